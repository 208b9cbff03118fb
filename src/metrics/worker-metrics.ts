import cluster, { type Worker } from 'node:cluster'
import { familiesOfWorkers, type Family } from './exposition.ts'
import type { ReadMetrics } from './server-metrics.ts'

const DEADLINE_MS = 1_000

/** Sent from the first process to a worker. */
type Question = { readonly metricsQuestion: number }
type Reply = { readonly metricsReply: number; readonly families: readonly Family[] }

/** In a worker: answers the questions of the first process. */
export function replyWithMetrics(read: ReadMetrics): void {
  process.on('message', (message: Question | {}) => {
    if (!('metricsQuestion' in message)) return
    const reply = (families: readonly Family[]): Reply => ({
      metricsReply: message.metricsQuestion,
      families,
    })
    read().then(
      (families) => process.send?.(reply(families)),
      // Without an answer the worker is left out. It may have no file descriptor left to count them.
      () => {},
    )
  })
}

/** In the first process: the metrics of all workers. One that does not answer within a second is left out. */
export function metricsOfWorkers(): ReadMetrics {
  let questions = 0
  return async () => {
    questions += 1
    const question = { metricsQuestion: questions }
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    const replies = await Promise.all(
      workers.map(async (worker) => [worker.id, await ask(worker, question)] as const),
    )
    return familiesOfWorkers(replies)
  }
}

function ask(worker: Worker, question: Question): Promise<readonly Family[]> {
  return new Promise((resolve) => {
    const end = (families: readonly Family[]) => {
      clearTimeout(timer)
      worker.off('message', onMessage)
      resolve(families)
    }
    const onMessage = (message: Reply | {}) => {
      if ('metricsReply' in message && message.metricsReply === question.metricsQuestion)
        end(message.families)
    }
    const timer = setTimeout(end, DEADLINE_MS, [])
    worker.on('message', onMessage)
    // A worker that has just ended gets no question; then the time runs out.
    worker.send(question, () => {})
  })
}
