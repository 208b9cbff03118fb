import type { Collection, DetailedType } from './outputs-query.ts'

/** The type in words: "list of string". */
export function typeInWords(type: DetailedType): string {
  if (typeof type === 'string') return type === 'dynamic' ? 'any' : type
  return isCollection(type) ? `${type[0]} of ${typeInWords(type[1])}` : type[0]
}

function isCollection(type: Exclude<DetailedType, string>): type is Collection {
  return type[0] === 'list' || type[0] === 'set' || type[0] === 'map'
}

/** A configuration that reads an output with the tfe provider. */
export function hclOf(organization: string, workspace: string, output: string): string {
  const label = /^[A-Za-z_]/.test(workspace) ? workspace : `_${workspace}`
  const isIdentifier = /^[A-Za-z_][A-Za-z0-9_-]*$/.test(output)
  const name = isIdentifier ? output : 'value'
  const path = isIdentifier ? `.${output}` : `[${quoted(output)}]`
  return `data "tfe_outputs" "${label}" {
  organization = ${quoted(organization)}
  workspace    = ${quoted(workspace)}
}

locals {
  ${name} = data.tfe_outputs.${label}.values${path}
}
`
}

/** A command that reads the current outputs, also after the next apply. The token is in the variable TOKEN. */
export function curlOf(origin: string, workspaceId: string): string {
  return `curl -sS -H "Authorization: Bearer $TOKEN" ${origin}/api/v2/workspaces/${workspaceId}/current-state-version-outputs`
}

function quoted(text: string): string {
  return JSON.stringify(text).replaceAll('${', '$${').replaceAll('%{', '%%{')
}
