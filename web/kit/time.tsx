const words = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

const units = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

const spans = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

/**
 * How long ago a moment was, or in how long it is, such as "4 minutes ago". Its title is the exact time as the reader's
 * browser writes times, with the time zone: logs and other people may have another one. Null is never.
 */
export function Time({ at }: { readonly at: string | null }) {
  if (at === null) return 'never'
  const then = new Date(at)
  const seconds = (then.getTime() - Date.now()) / 1_000
  const [unit, length] = units.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const)
  return (
    <time dateTime={at} title={words.format(then)}>
      {spans.format(Math.trunc(seconds / length), unit)}
    </time>
  )
}
