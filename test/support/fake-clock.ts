import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'

/** The path of the library that shifts a process's clock. Throws if it is missing, because no test may be skipped. */
function libfaketime(): string {
  try {
    const files = execFileSync('dpkg', ['-L', 'libfaketime'], { encoding: 'utf8', stdio: 'pipe' }).split('\n')
    const found = files.find((file) => file.endsWith('libfaketime.so.1'))
    if (found !== undefined) return found
  } catch {
    // Not installed, or not Debian.
  }
  throw new Error('libfaketime is missing; on Debian: apt-get install faketime')
}

/** A clock for a process. The text in `file` moves its wall clock; its timers are not affected. */
export class FakeClock {
  readonly #file: string
  /** The environment variables that the process needs. */
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
