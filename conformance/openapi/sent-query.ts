import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'

type Schema = { type?: string }
type Parameter = { name: string; in: string; required?: boolean; schema: Schema }
type Reference = { $ref: string }
type Description = {
  paths: Record<string, Record<string, { parameters?: (Parameter | Reference)[] }>>
  components: { parameters: Record<string, Parameter> }
}

const description = JSON.parse(
  readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
) as Description
const isWholeTime = (text: string) => new Date(text).toJSON() === text
const ajv = new Ajv2020({ formats: { 'date-time': isWholeTime } })

/**
 * Whether the query of a request is valid as it was sent. A query has only texts, so an invalid value may be sent as a
 * valid text: false as `false`, and an empty list as nothing. Of repeated parameters the last one counts, and an empty one
 * is absent. Of the valid spellings of a number and of a time, only the usual one counts.
 */
export function isSentQueryValid(method: string, path: string, uri: string): boolean {
  const operation = description.paths[path]?.[method.toLowerCase()]
  if (operation === undefined) return false
  const { searchParams } = new URL(uri)
  const declared = (operation.parameters ?? [])
    .map((one) => ('$ref' in one ? description.components.parameters[one.$ref.split('/').at(-1) ?? ''] : one))
    .filter((one): one is Parameter => one?.in === 'query')
  return declared.every(({ name, required, schema }) => {
    const text = searchParams.getAll(name).at(-1)
    if (text === undefined || text === '') return required !== true
    const isWhole = schema.type === 'integer' && /^\d+$/.test(text)
    const value = schema.type === 'array' ? text.split(',') : isWhole ? Number(text) : text
    return ajv.validate({ type: 'object', properties: { value: schema } }, { value })
  })
}
