import { execFileSync } from 'node:child_process'
import { readdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { temporaryFolder } from './purser.ts'

const packages = resolve(import.meta.dirname, '../data/release-before')
const nodeModules = resolve(import.meta.dirname, '../../node_modules')

/**
 * Unpacks the package of the release before this code, for one test. It uses the libraries of this code, so that the
 * test needs no network.
 *
 * @returns the path of its `main.js`
 */
export function unpackReleaseBefore(): string {
  const [file, ...others] = readdirSync(packages).filter((name) => name.endsWith('.tgz'))
  if (file === undefined || others.length > 0) throw new Error(`${packages} must have one package`)
  const folder = temporaryFolder()
  execFileSync('tar', ['-xzf', join(packages, file), '-C', folder])
  symlinkSync(nodeModules, join(folder, 'node_modules'))
  return join(folder, 'package/dist/main.js')
}
