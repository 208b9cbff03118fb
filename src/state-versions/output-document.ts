import { Type } from 'typebox'
import type { ResourceDescription } from '../jsonapi/description.ts'
import type { Fragment } from '../jsonapi/document.ts'
import { outputId } from './output-ids.ts'
import { maskedType } from './output-types.ts'
import type { StateOutput } from './outputs-collector.ts'

/** Where an output is shown: the list spells one key twice, as the specification's samples do. */
export type OutputShape = 'single' | 'listed' | 'workspace-outputs'

const outputTypes = ['string', 'number', 'boolean', 'array', 'object'].map((type) => Type.Literal(type))

export const outputDescription: ResourceDescription = {
  type: 'state-version-outputs',
  attributes: {
    name: Type.String(),
    sensitive: Type.Boolean(),
    type: Type.Union(outputTypes),
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
    'output-type': Type.Union(outputTypes),
    value: Type.Unknown(),
    'detailed-type': Type.Unknown(),
  },
  links: { self: Type.String() },
}

export type PlacedOutput = StateOutput & { position: number }

/**
 * What an answer hides of sensitive outputs: nothing, their values, or also the shapes of their values. OpenTofu and
 * Terraform read the types of masked outputs, so the shape is hidden only from callers who may not read the value.
 */
export type Masking = 'nothing' | 'values' | 'values and shapes'

/**
 * The only maker of `"type": "state-version-outputs"` and of its twin "workspace-outputs". Built as text: names, values
 * and types are the state file's own bytes, which nothing may parse.
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
  const head = `{"id":"${id}","type":"${shape === 'workspace-outputs' ? shape : 'state-version-outputs'}"`
  if (shape === 'workspace-outputs') {
    return `${head},"attributes":{"name":${name},"sensitive":${sensitive},"output-type":"${type}","value":${value},"detailed-type":${detailedType}},"links":{"self":"/api/v2/state-version-outputs/${id}"}}`
  }
  const twin = shape === 'listed' ? `,"detailed_type":${detailedType}` : ''
  return `${head},"attributes":{"name":${name},"sensitive":${sensitive},"type":"${type}","value":${value},"detailed-type":${detailedType}${twin}},"links":{"self":"/api/v2/state-version-outputs/${id}"}}`
}
