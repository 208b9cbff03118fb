import { Type } from 'typebox'
import type { ResourceDescription } from '../jsonapi/description.ts'
import type { Fragment } from '../jsonapi/document.ts'
import { outputId } from './output-ids.ts'
import { maskedType, outputTypes } from '../state-file/output-types.ts'
import type { StateOutput } from '../state-file/outputs-collector.ts'

/** Where an output is shown. A list has the type under two keys, `detailed-type` and `detailed_type`. */
export type OutputShape = 'single' | 'listed' | 'workspace-outputs'

export const outputTypeSchema = Type.Union(outputTypes.map((type) => Type.Literal(type)))

export const outputDescription: ResourceDescription = {
  type: 'state-version-outputs',
  attributes: {
    name: Type.String(),
    sensitive: Type.Boolean(),
    type: outputTypeSchema,
    value: Type.Unknown(),
    'detailed-type': Type.Unknown(),
    detailed_type: Type.Optional(Type.Unknown()),
  },
  links: { self: Type.String() },
}

export const workspaceOutputDescription: ResourceDescription = {
  type: 'workspace-outputs',
  attributes: {
    name: Type.String(),
    sensitive: Type.Boolean(),
    'output-type': outputTypeSchema,
    value: Type.Unknown(),
    'detailed-type': Type.Unknown(),
  },
  links: { self: Type.String() },
}

export type PlacedOutput = StateOutput & { position: number }

/**
 * How much of a sensitive output an answer hides: nothing, its value, or also the shape of its value. OpenTofu and
 * Terraform read the types of masked outputs, so the shape is hidden only from callers who may not read the value.
 */
export type Masking = 'nothing' | 'values' | 'values and shapes'

/**
 * The only function that makes `state-version-outputs` and `workspace-outputs` resources. It concatenates text, because
 * names, values and types are raw bytes of the state file and must not be parsed.
 */
export function outputFragment(
  outputKey: string,
  output: PlacedOutput,
  shape: OutputShape,
  masking: Masking,
): Fragment {
  const id = outputId(outputKey, output.position)
  const { name, sensitive, type } = output
  const value = sensitive && masking !== 'nothing' ? 'null' : output.value
  const hasHiddenShape = sensitive && masking === 'values and shapes'
  const detailedType = hasHiddenShape ? maskedType(output.detailedType) : output.detailedType
  const kind = shape === 'workspace-outputs' ? shape : 'state-version-outputs'
  const typeName = shape === 'workspace-outputs' ? 'output-type' : 'type'
  const twin = shape === 'listed' ? `,"detailed_type":${detailedType}` : ''
  return `{"id":"${id}","type":"${kind}","attributes":{"name":${name},"sensitive":${sensitive},"${typeName}":"${type}","value":${value},"detailed-type":${detailedType}${twin}},"links":{"self":"/api/v2/state-version-outputs/${id}"}}`
}
