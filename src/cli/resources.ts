import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import { withOwnClient } from '../import/own-client.ts'
import type { Resource } from '../import/source-lists.ts'
import { note, print, printJson, printTable } from './output.ts'
import { kinds, type Kind, type ResourceFlags } from './resource-kinds.ts'

export type KindName = keyof typeof kinds
export type Flags = ResourceFlags & { as?: string; json?: true }

export async function listResources(config: Config, kindName: KindName, flags: Flags): Promise<void> {
  const kind = kinds[kindName]
  const found = await withOwnClient(config, { as: flags.as, isReadOnly: true }, (client) =>
    kind.list(client, flags),
  )
  if (flags.json) {
    printJson({ data: found })
  } else if (found.length === 0) {
    note(`there are no ${kindName}`)
  } else {
    const headings = kind.columns.map(([heading]) => heading)
    const rows = found.map((one) => kind.columns.map(([, attribute]) => textOf(one, attribute)))
    printTable([headings, ...rows])
  }
}

export async function showResource(
  config: Config,
  kindName: KindName,
  name: string,
  flags: Flags,
): Promise<void> {
  const kind = kinds[kindName]
  const found = await withOwnClient(config, { as: flags.as, isReadOnly: true }, async (client) => {
    const path = await kind.pathOf(client, name, flags)
    return path === undefined ? undefined : client.show(path)
  })
  if (found === undefined) throw missing(kind, name, flags)
  if (flags.json) {
    printJson({ data: found })
    return
  }
  const shown = kind.columns.filter(([, attribute]) => attribute === 'id' || attribute in found.attributes)
  const rows = shown.map(([heading, attribute]) => [heading, textOf(found, attribute)])
  printTable([...rows, ...moreOf(found)])
}

export async function deleteResource(
  config: Config,
  kindName: KindName,
  name: string,
  flags: Flags,
): Promise<void> {
  const kind = kinds[kindName]
  if (flags.yes !== true) {
    throw new OperatorError(
      `this deletes the ${kind.name} ${name}${kind.deletesToo ?? ''}: confirm with --yes`,
    )
  }
  let kept: string[] = []
  const isDeleted = await withOwnClient(config, { as: flags.as }, async (client) => {
    const shown = await kind.pathOf(client, name, flags)
    if (shown === undefined) return false
    const path = kind.deletedAt?.(shown) ?? shown
    if (flags.endTokens === true) return client.delete(`${path}?end-tokens=true`)
    kept = (await kind.keptTokens?.(client, path)) ?? []
    return client.delete(path)
  })
  if (!isDeleted) throw missing(kind, name, flags)
  if (flags.json) printJson({ deleted: name })
  else print(`deleted the ${kind.name} ${name}`)
  if (kept.length > 0) {
    note(
      `${name} made or saw these tokens, which stay valid: ${kept.join(', ')}; purser token delete ends one`,
    )
  }
}

function missing({ name: kind }: Kind, name: string, { organization }: ResourceFlags): OperatorError {
  const place = organization === undefined ? '' : ` in ${organization}`
  return new OperatorError(`there is no ${kind} ${name}${place}`)
}

function textOf({ id, attributes }: Resource, attribute: string): string {
  const value = attribute === 'id' ? id : attributes[attribute]
  if (value === null || value === undefined || value === '') return '-'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What only `show` has room for. */
function moreOf({ attributes }: Resource): string[][] {
  const access = attributes['organization-access']
  if (typeof access !== 'object' || access === null) return []
  const held = Object.entries(access).filter(([, isHeld]) => isHeld === true)
  return [['organization-access', held.map(([flag]) => flag).join(', ') || '-']]
}
