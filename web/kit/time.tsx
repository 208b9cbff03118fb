const words = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

/** A moment, as the reader's browser writes times, with the time zone: logs and other people may have another one. */
export function Time({ at }: { readonly at: string }) {
  return <time dateTime={at}>{words.format(new Date(at))}</time>
}
