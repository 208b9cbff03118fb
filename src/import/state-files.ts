import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError, reasonOf } from '../core/operator-error.ts'

/** What the name of a workspace is made of: the whole path of the file in the folder, or only its own name. */
export type NameFrom = 'path' | 'file'

/** `path` is relative to the folder, with `/`. `workspace` is the name that it leads to. */
export type StateFile = { readonly path: string; readonly workspace: string }

const MAX_FILES = 100_000
const STATE_NAME = /\.tfstate(?:env:[^/]+)?$/

/**
 * The state files below a folder, in the order of their paths. Links are not followed. Left out are backups
 * (`*.tfstate.backup`) and folders `.terraform`, whose `terraform.tfstate` is no state but says where the state is.
 */
export function findStateFiles(folder: string, nameFrom: NameFrom): StateFile[] {
  const paths: string[] = []
  const waiting = ['']
  for (const inside of waiting) {
    for (const entry of entriesOf(join(folder, inside))) {
      const path = inside === '' ? entry.name : `${inside}/${entry.name}`
      if (entry.isDirectory() && entry.name !== '.terraform') waiting.push(path)
      if (entry.isFile() && STATE_NAME.test(entry.name)) paths.push(path)
      if (paths.length > MAX_FILES)
        throw new OperatorError(`${folder} has more than ${MAX_FILES} state files`)
    }
  }
  return paths.sort().map((path) => ({ path, workspace: workspaceOf(path, nameFrom) }))
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    throw new OperatorError(`cannot read the folder ${folder}: ${reasonOf(error)}`)
  }
}

/**
 * `prod/network/terraform.tfstate` is `prod-network`. The workspaces of a configuration come last in the name, as the backends
 * store them: `env:/dev/network.tfstate` (s3), `network.tfstateenv:dev` (azurerm), `network/dev.tfstate` (gcs) and
 * `network/terraform.tfstate.d/dev/terraform.tfstate` (local) are `network-dev`. Their default workspace adds nothing.
 */
export function workspaceOf(path: string, nameFrom: NameFrom): string {
  const [, file = path, suffix] = /^(.*)\.tfstate(?:env:([^/]+))?$/s.exec(path) ?? []
  const parts = file.split('/')
  if (nameFrom === 'file') return nameOf([parts.at(-1) ?? '', suffix])
  const prefix = parts.indexOf('env:')
  const inFront = prefix === -1 ? undefined : parts.splice(prefix, 2)[1]
  const names = parts.filter((part) => part !== 'terraform.tfstate.d')
  if (['terraform', 'default'].includes(names.at(-1) ?? '') && names.length > 1) names.pop()
  return nameOf([...names, inFront, suffix])
}

/** Other characters than those of a workspace's name become `-`. */
function nameOf(parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined && part !== '' && part !== '.')
    .join('-')
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
}
