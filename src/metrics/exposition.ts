export type Sample = {
  /** Behind the name of the family: a histogram has several kinds of samples. */
  readonly suffix?: '_bucket' | '_sum' | '_count'
  /** As `labelsOf` makes them. */
  readonly labels?: string
  readonly value: number
}

/** One metric with all its samples. Times are in seconds, sizes in bytes. */
export type Family = {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly Sample[]
}

export function gauge(name: string, help: string, value: number | readonly Sample[]): Family {
  return { name, help, type: 'gauge', samples: typeof value === 'number' ? [{ value }] : value }
}

export function counter(name: string, help: string, value: number | readonly Sample[]): Family {
  return { name, help, type: 'counter', samples: typeof value === 'number' ? [{ value }] : value }
}

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The families in the text format of Prometheus. */
export function expositionOf(families: readonly Family[]): string {
  return families.map(textOf).join('')
}

function textOf({ name, help, type, samples }: Family): string {
  const lines = samples.map(
    ({ suffix = '', labels, value }) =>
      `${name}${suffix}${labels === undefined ? '' : `{${labels}}`} ${value}\n`,
  )
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

/** Labels as a sample has them: `method="GET",status="200"`. No value may need an escape. */
export function labelsOf(labels: Readonly<Record<string, string | number>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')
}

/**
 * The families of several worker processes, each sample with the label `worker`. Sums would fall, and rise again, while a
 * worker does not answer, which Prometheus takes for a restart.
 *
 * @param byWorker each with the number of the worker
 */
export function familiesOfWorkers(
  byWorker: readonly (readonly [number, readonly Family[]])[],
): readonly Family[] {
  const joined = new Map<string, Family>()
  for (const [worker, families] of byWorker) {
    const ofWorker = labelsOf({ worker })
    for (const family of families) {
      const samples = family.samples.map((each) => ({
        ...each,
        labels: each.labels === undefined ? ofWorker : `${ofWorker},${each.labels}`,
      }))
      const before = joined.get(family.name)?.samples ?? []
      joined.set(family.name, { ...family, samples: [...before, ...samples] })
    }
  }
  return [...joined.values()]
}
