/** Characters of an output's name that the audit trail keeps: whoever uploads a state chooses its names. */
export const MAX_AUDITED_NAME = 256

/** The name as the audit trail says it: a longer one is cut, and its length said. */
export function shortName(name: string): string {
  if (name.length <= MAX_AUDITED_NAME) return name
  return `${name.slice(0, MAX_AUDITED_NAME).toWellFormed()}… (${name.length} characters)`
}
