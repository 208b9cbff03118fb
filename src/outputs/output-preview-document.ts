import { Type } from 'typebox'
import { closedObject, nullable, relationMaybe, type ResourceDescription } from '../jsonapi/description.ts'
import { fragment, type Fragment } from '../jsonapi/document.ts'
import type { OutputType } from '../state-file/output-types.ts'
import { outputTypeSchema } from './output-document.ts'

/** An output as a page shows it. The value of a sensitive one is left out. */
export type OutputPreview = {
  /** The first 256 characters. */
  name: string
  sensitive: boolean
  type: OutputType
  /** Raw JSON: the type, or only its kind if that is hidden or long. */
  detailedType: string
  /** The first characters of the value's raw JSON; null if the output is sensitive. */
  text: string | null
  /** The length of the value's raw JSON; null if the output is sensitive. */
  bytes: number | null
}

export type ChangedPart = 'sensitive' | 'type' | 'value'

/** A difference between the outputs of two state versions. `before` is undefined if it is new, `after` if it is gone. */
type OutputChange = {
  id: string
  before: OutputPreview | undefined
  after: OutputPreview | undefined
  differs: readonly ChangedPart[]
}

const preview = {
  sensitive: Type.Boolean(),
  type: outputTypeSchema,
  'detailed-type': Type.Unknown(),
  'value-text': nullable(Type.String()),
  'value-bytes': nullable(Type.Integer()),
}

export const outputPreviewDescription: ResourceDescription = {
  type: 'output-previews',
  attributes: { name: Type.String(), ...preview },
  relationships: { 'state-version': relationMaybe('state-versions') },
  links: { self: Type.String() },
}

export const outputChangeDescription: ResourceDescription = {
  type: 'output-changes',
  attributes: {
    name: Type.String(),
    change: Type.Union(['added', 'changed', 'removed'].map((change) => Type.Literal(change))),
    differs: Type.Array(Type.Union(['sensitive', 'type', 'value'].map((part) => Type.Literal(part)))),
    before: nullable(closedObject(preview)),
    after: nullable(closedObject(preview)),
  },
  links: { self: Type.String() },
}

function attributesOf({ sensitive, type, detailedType, text, bytes }: OutputPreview): object {
  return {
    sensitive,
    type,
    'detailed-type': JSON.parse(detailedType) as unknown,
    'value-text': text,
    'value-bytes': bytes,
  }
}

/** The only function that makes `output-previews` resources. */
export function outputPreviewFragment(
  id: string,
  output: OutputPreview,
  stateVersionId: string | undefined,
): Fragment {
  return fragment({
    id,
    type: 'output-previews',
    attributes: { name: output.name, ...attributesOf(output) },
    relationships: {
      'state-version': {
        data: stateVersionId === undefined ? null : { id: stateVersionId, type: 'state-versions' },
      },
    },
    links: { self: `/api/v2/state-version-outputs/${id}` },
  })
}

/** The only function that makes `output-changes` resources. */
export function outputChangeFragment({ id, before, after, differs }: OutputChange): Fragment {
  return fragment({
    id,
    type: 'output-changes',
    attributes: {
      name: (after ?? before)?.name,
      change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
      differs,
      before: before === undefined ? null : attributesOf(before),
      after: after === undefined ? null : attributesOf(after),
    },
    links: { self: `/api/v2/state-version-outputs/${id}` },
  })
}
