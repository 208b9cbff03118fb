// Questions and answers between the benchmark and its processes, over Node's IPC channel.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { spawnSync } from 'node:child_process'

type Question = { id: number; name: string; argument: unknown }
type Reply = { id: number; value?: unknown; error?: string }

/** Runs in the child: answers each question with the function of the same name. */
export function answerQuestions(functions: Record<string, (argument: never) => Promise<unknown>>): void {
  process.on('message', ({ id, name, argument }: Question) => {
    const reply = (rest: Omit<Reply, 'id'>) => process.send?.({ id, ...rest })
    Promise.resolve()
      .then(() => functions[name]?.(argument as never))
      .then(
        (value) => reply({ value }),
        (error: unknown) => reply({ error: String(error instanceof Error ? error.stack : error) }),
      )
  })
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
}

/** Whether this machine can pin processes to CPUs. */
export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0

const cpus = availableParallelism()
/** The load generator has the last CPU. The servers have all others. */
const places = { load: String(cpus - 1), server: cpus === 2 ? '0' : `0-${cpus - 2}` } as const
export type Place = keyof typeof places

export const placesText = canPin
  ? `servers on CPU ${places.server}, load generator on CPU ${places.load}`
  : 'NOT pinned to CPUs of their own (taskset or a second CPU is missing): compare with care'

export function pinSelf(): void {
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', places.load, String(process.pid)])
}

/** The command, pinned to the CPUs of the place. */
export function onPlace(place: Place, command: readonly string[]): string[] {
  return canPin ? ['taskset', '-c', places[place], ...command] : [...command]
}

/** A process of the benchmark, pinned to its CPUs. */
export class Child {
  readonly #process: ChildProcess
  readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  #questions = 0
  output = ''

  constructor(
    file: string,
    place: Place,
    options: { args?: string[]; env?: NodeJS.ProcessEnv; execArgv?: string[] } = {},
  ) {
    const node = [process.execPath, ...(options.execArgv ?? [])]
    const [command = '', ...before] = onPlace(place, node)
    this.#process = fork(file, options.args ?? [], {
      execPath: command,
      execArgv: before,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    this.#process.on('message', ({ id, value, error }: Reply) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) waiting?.resolve(value as never)
      else waiting?.reject(new Error(error))
    })
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on('data', (bytes: Buffer) => (this.output += bytes.toString()))
    }
    this.#process.on('exit', (code, signal) => {
      const error = new Error(`${file} ended (${code ?? signal}): ${this.output.slice(-2_000)}`)
      for (const { reject } of this.#waiting.values()) reject(error)
      this.#waiting.clear()
    })
  }

  get pid(): number {
    return this.#process.pid as number
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null
  }

  ask<T>(name: string, argument?: unknown): Promise<T> {
    const id = (this.#questions += 1)
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#process.send({ id, name, argument } satisfies Question, (error) => {
        if (error !== null) reject(error)
      })
    })
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return
    this.#process.kill('SIGTERM')
    await once(this.#process, 'exit')
  }
}
