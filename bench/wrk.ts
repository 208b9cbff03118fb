// An independent load generator, where it is installed: the project's own might favour the project.
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { onPlace } from './child.ts'

export const hasWrk = spawnSync('wrk', ['-v']).error === undefined

/** Requests a second for one GET, over as many keep-alive connections, in one thread on the load generator's processor. */
export async function wrkRate(
  url: string,
  token: string,
  connections: number,
  seconds: number,
): Promise<number> {
  const [command = '', ...before] = onPlace('load', ['wrk'])
  const options = [`-t1`, `-c${connections}`, `-d${seconds}s`, '-H', `Authorization: Bearer ${token}`, url]
  const { stdout } = await promisify(execFile)(command, [...before, ...options])
  const rate = Number(/Requests\/sec: +([\d.]+)/.exec(stdout)?.[1])
  if (Number.isNaN(rate) || /Non-2xx|Socket errors/.test(stdout)) throw new Error(`wrk said: ${stdout}`)
  return rate
}
