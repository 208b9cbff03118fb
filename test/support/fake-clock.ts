import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

/** The library that shows a process another time. Throws where it is missing, since no test is skipped. */
function libfaketime(): string {
  try {
    const files = execFileSync('dpkg', ['-L', 'libfaketime'], { encoding: 'utf8', stdio: 'pipe' }).split('\n')
    const found = files.find((file) => file.endsWith('libfaketime.so.1'))
    if (found !== undefined) return found
  } catch {
    // Not installed, or no Debian.
  }
  throw new Error('libfaketime is missing; on Debian: apt-get install faketime')
}

/** A clock for a process: its wall clock is moved by what stands in `file`, its timers go on as ever. */
export class FakeClock {
  readonly #file: string
  /** What the process must have in its environment. */
  readonly environment: Record<string, string>

  constructor(file: string) {
    this.#file = file
    this.environment = {
      LD_PRELOAD: libfaketime(),
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }
    this.moveTo(0)
  }

  moveTo(milliseconds: number): void {
    const seconds = Math.round(milliseconds / 1000)
    writeFileSync(this.#file, `${seconds < 0 ? '' : '+'}${seconds}\n`)
  }
}
