/** A moment, as the reader's browser writes times. */
export function Time({ at }: { readonly at: string }) {
  return <time dateTime={at}>{new Date(at).toLocaleString()}</time>
}
