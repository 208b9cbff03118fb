/**
 * Compares strings by code point, which is the order of their UTF-8 bytes; `<` compares UTF-16 units. An unpaired
 * surrogate has no UTF-8 form and is compared by its own value.
 */
export function compareBytes(a: string, b: string): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [x = 0, y = 0] = [a.codePointAt(at), b.codePointAt(at)]
    if (x !== y) return x - y
  }
  return a.length - b.length
}
