import type { Child } from './child.ts'
import type { Job, JobResult } from './load.ts'
import type { Engine } from '../src/database/portable.ts'
import { Purser } from './purser.ts'
import type { World } from './seed.ts'

/** One measured value, the minimum it must reach and the value we aim for. */
export type Figure = {
  what: string
  value: number
  unit: string
  atLeast?: number | undefined
  aim?: number | undefined
  /** Whether a larger or a smaller value is better. */
  better: 'more' | 'less'
  details: string
}

/** A table that only informs: how speed or memory grow with something. */
export type Table = { title: string; head: string[]; lines: string[][] }

export type Outcome = { figures: Figure[]; tables?: Table[] }

export type Row = {
  /** The name for --only. */
  id: string
  /** What the row measures. Printed if the measurement fails. */
  what: string
  run: (bench: Bench) => Promise<Outcome>
}

export const CONNECTIONS = 16

/** The processes and data that every row uses. */
export class Bench {
  readonly engine: Engine
  readonly world: World
  purser: Purser
  readonly load: Child
  readonly floor: Child
  readonly floorPort: number
  readonly isQuick: boolean
  /** Whether the server has answered for some seconds. */
  isWarm = false

  constructor(parts: {
    engine: Engine
    world: World
    purser: Purser
    load: Child
    floor: Child
    floorPort: number
    isQuick: boolean
  }) {
    this.engine = parts.engine
    this.world = parts.world
    this.purser = parts.purser
    this.load = parts.load
    this.floor = parts.floor
    this.floorPort = parts.floorPort
    this.isQuick = parts.isQuick
  }

  /** Runs a job of the load generator. Throws if an answer has another status than expected. */
  async run(job: Partial<Job> & { requests: string[] }, status = '200'): Promise<JobResult> {
    const result = await this.load.ask<JobResult>('run', {
      port: this.purser.port,
      connections: CONNECTIONS,
      maySleep: this.engine === 'postgres',
      ...job,
    } satisfies Job)
    const others = Object.keys(result.statuses).filter((other) => other !== status)
    if (others.length > 0) throw new Error(`answers were ${JSON.stringify(result.statuses)}, not ${status}`)
    return result
  }

  /** Starts a new server process on the same data. */
  async restart(): Promise<void> {
    await this.purser.stop()
    this.purser = await Purser.start(this.engine, this.world.folder)
    this.isWarm = false
  }

  stopLoad(): Promise<void> {
    return this.load.ask('stop')
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

export function thousands(perSecond: number): string {
  return perSecond >= 10_000 ? `${(perSecond / 1000).toFixed(1)}k` : String(Math.round(perSecond))
}
