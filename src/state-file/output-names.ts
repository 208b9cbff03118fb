/**
 * Characters of an output name in the audit trail. There is a limit because the uploader of a state chooses the names.
 */
export const MAX_AUDITED_NAME = 256

/** The name for the audit trail: a longer one is cut and its length appended. */
export function shortName(name: string): string {
  if (name.length <= MAX_AUDITED_NAME) return name
  return `${name.slice(0, MAX_AUDITED_NAME).toWellFormed()}… (${name.length} characters)`
}
