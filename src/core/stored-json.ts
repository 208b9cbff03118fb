/**
 * Parses JSON that this server wrote or has validated. The type is believed: for JSON from outside use a schema.
 *
 * @throws SyntaxError if it is no JSON
 */
export function parseStored<T>(text: string): T {
  // The one place where a type is only believed.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return JSON.parse(text) as T
}
