import { isJsonObject, memberOf } from '../core/json-object.ts'
import type { Problem } from '../core/errors.ts'
import { propertiesOf, type Shape } from './body-values.ts'

/** A body may have any number of them. */
const MAX_NAMED = 20
const MAX_NAME_LENGTH = 100

/**
 * The attributes that a body gives and its shape does not have, also those inside an attribute. `ignored` has names that
 * the platform's clients send for something that this server does not have; inside an attribute: `attribute/name`.
 */
export function unknownAttributes(
  json: unknown,
  { attributes = {}, ignored }: { readonly attributes?: Shape; readonly ignored: readonly string[] },
): Problem[] {
  const given = memberOf(memberOf(json, 'data'), 'attributes')
  const unknown: Problem[] = []
  const look = (object: unknown, known: Shape, inside: readonly string[]) => {
    if (!isJsonObject(object)) return
    for (const [name, value] of Object.entries(object)) {
      if (unknown.length >= MAX_NAMED) return
      const path = [...inside, name]
      const schema = Object.hasOwn(known, name) ? known[name] : undefined
      if (schema !== undefined) look(value, propertiesOf(schema) ?? {}, path)
      else if (!ignored.includes(path.join('/'))) unknown.push(problemOf(path))
    }
  }
  look(given, attributes, [])
  return unknown
}

function problemOf(path: readonly string[]): Problem {
  const names = path.map((name) => name.slice(0, MAX_NAME_LENGTH))
  const pointer = names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
  return { detail: `there is no attribute ${names.join('.')}`, pointer: `/data/attributes${pointer}` }
}
