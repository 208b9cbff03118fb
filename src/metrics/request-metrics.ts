import { counter, gauge, labelsOf, type Family, type Sample } from './exposition.ts'

/** Upper ends of the buckets, in seconds. Most answers take less than a millisecond. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const ENDS = [...BUCKETS, '+Inf'].map((le) => labelsOf({ le }))
/** Clients choose methods, so others share a name. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE'])

type Answers = {
  /** Per bucket, and one more for slower answers. Not cumulative. */
  readonly times: Float64Array
  seconds: number
  readonly statuses: Map<number, number>
}

/** Counts answers, and how long they took, by method and route. */
export class RequestMetrics {
  /** By route, then by method. */
  readonly #answers = new Map<string, Map<string, Answers>>()
  #begun = 0
  #ended = 0

  begin(): void {
    this.#begun += 1
  }

  /**
   * @param route the template of the path; empty for an unknown path
   * @param since when the headers of the request had arrived, as performance.now() gives it
   */
  end(method: string, route: string, status: number, since: number): void {
    const ms = performance.now() - since
    this.#ended += 1
    const answers = this.#answersOf(METHODS.has(method) ? method : '_OTHER', route)
    const { times, statuses } = answers
    const bucket = BUCKETS.findIndex((end) => ms <= end * 1_000)
    const index = bucket === -1 ? BUCKETS.length : bucket
    times[index] = (times[index] ?? 0) + 1
    answers.seconds += ms / 1_000
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }

  #answersOf(method: string, route: string): Answers {
    let ofRoute = this.#answers.get(route)
    if (ofRoute === undefined) this.#answers.set(route, (ofRoute = new Map()))
    let answers = ofRoute.get(method)
    if (answers === undefined) {
      answers = { times: new Float64Array(BUCKETS.length + 1), seconds: 0, statuses: new Map() }
      ofRoute.set(method, answers)
    }
    return answers
  }

  families(): readonly Family[] {
    const requests: Sample[] = []
    const durations: Sample[] = []
    for (const [template, byMethod] of this.#answers) {
      for (const [method, { times, seconds, statuses }] of byMethod) {
        const labels = labelsOf({ method, route: template === '' ? 'unknown' : template })
        for (const [status, value] of statuses) {
          requests.push({ labels: `${labels},${labelsOf({ status })}`, value })
        }
        durations.push(...histogramOf(labels, times, seconds))
      }
    }
    return [
      counter('purser_http_requests_total', 'Answered requests.', requests),
      {
        name: 'purser_http_request_duration_seconds',
        help: 'Time from the headers of a request to the headers of its answer.',
        type: 'histogram',
        samples: durations,
      },
      gauge(
        'purser_http_requests_in_flight',
        'Requests that are not answered yet.',
        this.#begun - this.#ended,
      ),
    ]
  }
}

function histogramOf(labels: string, times: Float64Array, seconds: number): Sample[] {
  let count = 0
  const buckets = Array.from(times, (value, index): Sample => {
    count += value
    return { suffix: '_bucket', labels: `${labels},${ENDS[index]}`, value: count }
  })
  return [...buckets, { suffix: '_sum', labels, value: seconds }, { suffix: '_count', labels, value: count }]
}
