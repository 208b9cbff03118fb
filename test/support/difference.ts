/**
 * Where long bytes or texts differ, in one line; undefined if they are equal. vitest would print all of both, and compares
 * bytes for minutes if each differs.
 */
export function differenceOf(got: Uint8Array | string, expected: Uint8Array | string): string | undefined {
  const [a, b] = [bytesOf(got), bytesOf(expected)]
  if (a.equals(b)) return undefined
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  const here = (bytes: Buffer) => JSON.stringify(bytes.subarray(at, at + 20).toString('latin1'))
  return `from byte ${at} on ${here(a)} instead of ${here(b)}; ${a.length} bytes instead of ${b.length}`
}

function bytesOf(given: Uint8Array | string): Buffer {
  return typeof given === 'string' ? Buffer.from(given) : Buffer.from(given)
}
