/** A number that JavaScript would round: its digits as the server sent them. */
export class ExactNumber {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }
}

type Source = { readonly source?: string }

/** Parses JSON without changing a digit of a number. */
export function parseExact(text: string): unknown {
  const keep = (_: string, value: unknown, { source }: Source = {}) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? new ExactNumber(source)
      : value
  return JSON.parse(text, keep)
}

/** A value as people copy it: texts as they are, everything else as JSON. */
export function copied(value: unknown): string {
  return typeof value === 'string' ? value : jsonOf(value)
}

/** The JSON of a value, with every digit. */
export function jsonOf(value: unknown, indent = ''): string {
  if (value instanceof ExactNumber) return value.digits
  if (Array.isArray(value))
    return listOf(
      value.map((item) => jsonOf(item, `${indent}  `)),
      '[]',
      indent,
    )
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => `${JSON.stringify(name)}: ${jsonOf(member, `${indent}  `)}`,
    )
    return listOf(members, '{}', indent)
  }
  return JSON.stringify(value)
}

function listOf(items: readonly string[], brackets: string, indent: string): string {
  if (items.length === 0) return brackets
  const inner = items.map((item) => `${indent}  ${item}`).join(',\n')
  return `${brackets[0]}\n${inner}\n${indent}${brackets[1]}`
}
