/** Sixteen characters of an id, in the order of the numbers. */
export function idOf(n: number): string {
  return n
    .toString(9)
    .padStart(16, '0')
    .replaceAll(/\d/g, (digit) => String(Number(digit) + 1))
}
