import { readFileSync } from 'node:fs'

/** How many files this process may open. Node has raised it to the hard limit. Undefined where the system does not tell. */
export function maxOpenFiles(): number | undefined {
  try {
    const [, count] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? []
    return count === undefined ? undefined : Number(count)
  } catch {
    return undefined
  }
}
