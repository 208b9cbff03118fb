import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { oneEngine, type Engine } from './support/engines.ts'
import { Purser, settingsFor, type Settings } from './support/purser.ts'

/** The blocks of a page in this language, in order. Blocks that need other programs name no language. */
function blocksOf(page: string, language = 'sh'): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm')
  return [...readFileSync(page, 'utf8').matchAll(pattern)].map(([, block = '']) => block)
}

/** A shell in a folder that looks like a fresh clone, with a server on its data folder. */
class Terminal {
  readonly #settings: Settings
  readonly #port: string
  readonly #clone: string

  private constructor(settings: Settings, address: string) {
    this.#settings = settings
    this.#port = new URL(address).port
    this.#clone = dirname(settings.PURSER_DATA as string)
    for (const name of ['bin', 'package.json']) symlinkSync(resolve(name), join(this.#clone, name))
    mkdirSync(join(this.#clone, 'tmp'))
  }

  static async open(engine: Engine): Promise<Terminal> {
    const settings = await settingsFor(engine)
    return new Terminal(settings, await new Purser(['serve'], settings).address())
  }

  /** The lines of both streams, without blank ones and without the expiry of tokens. */
  paste(blocks: readonly string[]): string[] {
    const { PURSER_DATA: _, ...rest } = this.#settings
    const script = `exec 2>&1\n${blocks.join('\n')}`.replaceAll(':4567', `:${this.#port}`)
    const { stdout } = spawnSync('bash', ['-c', script], {
      cwd: this.#clone,
      env: {
        ...process.env,
        ...rest,
        PURSER_LISTEN: `127.0.0.1:${this.#port}`,
        TMPDIR: join(this.#clone, 'tmp'),
      },
      encoding: 'utf8',
    })
    return stdout.split('\n').filter((line) => line !== '' && !line.startsWith('expires '))
  }
}

const readme = blocksOf('README.md')
const tour = blocksOf('docs/tour.md')
/** What `tofu init` makes in the tour, without tofu. */
const workspaceOfTour =
  'api /organizations/ferry/workspaces -d \'{"data":{"type":"workspaces","attributes":{"name":"database"}}}\' | pick data.id'
const promised = blocksOf('README.md', 'text')[0]?.trim().split('\n')

describe.each(oneEngine)('the pages for the first hour on %s', (engine) => {
  test('the three minutes end with the password for the reader of outputs, and 404 for the other member', async () => {
    expect(readme).toHaveLength(4)
    expect(promised).toContain('s3cret')
    const terminal = await Terminal.open(engine)
    const first = terminal.paste(readme)
    expect(first.slice(-5)).toEqual(promised)
    const before = first.slice(0, -5).filter((line) => !/^(made the user|(ou|team|ws|sv|tws)-)/.test(line))
    expect(before).toEqual(['ferry', 'active', 'active'])
  })

  test('pasted again, each block says in a line what is there already, and they end the same', async () => {
    const terminal = await Terminal.open(engine)
    terminal.paste(readme)
    const second = terminal.paste(readme)
    expect(second.slice(-5)).toEqual(promised)
    const refusals = second.slice(0, -5).filter((line) => /^\d{3} |^purser: /.test(line))
    expect(refusals).toEqual([
      'purser: username is already used by another user',
      'purser: email is already used by another user',
      'purser: username is already used by another user',
      'purser: email is already used by another user',
      '422 name is already used by another organization',
      '422 name is already used by another team of the organization',
      '422 email is already used by a member or an invitation of this organization',
      '422 email is already used by a member or an invitation of this organization',
      '422 name is already used by another workspace of the organization',
      '422 team has access to the workspace already',
    ])
    expect(second.filter((line) => /^\s+at |node:internal|Error:/.test(line))).toEqual([])
  })

  test('the tour goes on in the same shell, and leaves no token behind', async () => {
    expect(tour).toHaveLength(5)
    const terminal = await Terminal.open(engine)
    const [configurations = '', files = '', ...rest] = tour
    const last = rest.pop() as string
    const seen = terminal.paste([
      ...readme,
      'echo ---',
      configurations,
      'stat -c "%a %s" $TOUR $TOUR/*.tofurc; cat $TOUR/ines.tofurc | grep -c $INES; ls',
      files,
      workspaceOfTour,
      ...rest,
      last,
      'ls tmp',
    ])
    const lines = seen.slice(seen.indexOf('---') + 1)
    expect(lines[0]).toMatch(/^700 /)
    expect(lines.slice(1, 4).every((line) => /^600 \d{3}$/.test(line))).toBe(true)
    expect(lines.slice(4, 9)).toEqual(['1', 'bin', 'data', 'package.json', 'tmp'])
    const text = lines.slice(9).join('\n')
    expect(text).toMatch(/^database +read-outputs +team-workspaces custom .* of team readers$/m)
    expect(text).toMatch(/^database +none +organization-member \(only read-current-outputs\)$/m)
    expect(text).toMatch(/output\.reveal .*ferry/)
    expect(lines.at(-1)).not.toContain('tmp.')
  })
})
