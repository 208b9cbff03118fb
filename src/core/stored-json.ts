/**
 * Parses JSON that this server wrote or has validated. The type is believed: for JSON from outside use a schema.
 *
 * @throws SyntaxError if it is no JSON
 */
export function parseStored<T>(text: string): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of what this server wrote
  return JSON.parse(text) as T
}
