/** Whether a parsed JSON value is an object: neither null nor an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member of a parsed JSON value of any type; undefined if there is none. */
export function memberOf(json: unknown, name: string): unknown {
  return isJsonObject(json) && Object.hasOwn(json, name) ? json[name] : undefined
}
