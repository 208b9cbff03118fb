import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const built = new Map<string, string>()

/** The library of a C source, compiled when first used. */
export function sharedLibrary(source: string, what: string): string {
  const known = built.get(source)
  if (known !== undefined) return known
  const folder = mkdtempSync(join(tmpdir(), 'purser-library-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, `${basename(source, '.c')}.so`)
  try {
    execFileSync('cc', ['-O1', '-Wall', '-shared', '-fPIC', '-o', file, source, '-ldl'], { stdio: 'pipe' })
  } catch (error) {
    throw new Error(`${what} need a C compiler named cc (Debian: gcc and libc6-dev), on Linux`, {
      cause: error,
    })
  }
  built.set(source, file)
  return file
}
