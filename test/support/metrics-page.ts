/** By name and labels, as the page has them. */
export type Samples = ReadonlyMap<string, number>

const SAMPLE = /^([a-z_\d]+)(\{([a-z_]+="([^"\\\n]|\\["\\n])*",?)+\})? (\S+)$/

/** Reads a page in the text format of Prometheus. Throws if Prometheus, or `promtool check metrics`, would refuse it. */
export function samplesOf(page: string): Samples {
  if (!page.endsWith('\n')) throw new Error('the last line has no end')
  const samples = new Map<string, number>()
  const families = new Set<string>()
  let [family, type] = ['', '']
  const lines = page.slice(0, -1).split('\n')
  lines.forEach((line, index) => {
    const fail = (problem: string) => {
      throw new Error(`${problem}: ${line}`)
    }
    const [, kind, name = '', rest] = /^# (HELP|TYPE) ([a-z_\d]+) (.+)$/.exec(line) ?? []
    if (kind === 'HELP') {
      if (families.has(name)) fail('a second time')
      families.add(name)
      if (!lines[index + 1]?.startsWith(`# TYPE ${name} `)) fail('no type')
    } else if (kind === 'TYPE') {
      ;[family, type] = [name, rest ?? '']
      if ((type === 'counter') !== name.endsWith('_total'))
        fail('the end of the name is not that of its type')
    } else {
      const [, sampled = '', labels = '', , , value] = SAMPLE.exec(line) ?? fail('not a sample') ?? []
      const suffix = sampled.slice(family.length)
      const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      if (!sampled.startsWith(family) || !suffixes.includes(suffix)) fail(`not of ${family}`)
      if (samples.has(sampled + labels)) fail('a second time')
      if (!Number.isFinite(Number(value))) fail('not a number')
      samples.set(sampled + labels, Number(value))
    }
  })
  return samples
}
