import { argon2Sync, type Argon2Parameters } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { HASHING, stepBack } from '../core/niceness.ts'
import { isGuessable } from './guessable.ts'

/** Runs in a thread that hash-threads.ts starts: one job after the other, behind everything else. */

/** The answer is the hash, or whether the password is easy to guess. */
export type HashJob =
  | { readonly type: 'hash'; readonly parameters: Argon2Parameters }
  | { readonly type: 'judge'; readonly password: string }

export type HashResult = Uint8Array | boolean

if (parentPort === null) throw new Error('This module runs in a worker thread only')
const port = parentPort
stepBack(HASHING)
port.on('message', (job: HashJob) => void answer(job))

async function answer(job: HashJob): Promise<void> {
  const result: HashResult =
    job.type === 'hash' ? argon2Sync('argon2id', job.parameters) : await isGuessable(job.password)
  port.postMessage(result, [])
}
