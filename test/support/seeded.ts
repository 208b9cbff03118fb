// The demo data of `purser seed`, in a database that a test owns.
import { Client } from './client.ts'
import { run, type Settings } from './purser.ts'

export type Tokens = Record<string, string>

/** Runs a command that must succeed, and returns its output. */
export async function output(args: readonly string[], settings: Settings, main?: string): Promise<string> {
  const { code, stdout, stderr } = await run(args, settings, main)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)
  return stdout.trim()
}

export async function seeded(settings: Settings, main?: string): Promise<Tokens> {
  const { people } = JSON.parse(await output(['seed', '--json'], settings, main))
  return Object.fromEntries(
    people.map(({ username, token }: { username: string; token: string }) => [username, token]),
  )
}

/** What the people of the demo see. A restored server must give the same answers. */
export async function seenBy(address: string, tokens: Tokens) {
  const get = async (username: string, path: string) => {
    const { status, text } = await new Client(address, tokens[username]).get(path)
    return { status, text: text.replaceAll(address, '') }
  }
  const found = await new Client(address, tokens.rosa).get('/organizations/demo/workspaces/database')
  const { id, relationships } = found.json.data
  const state = relationships['current-state-version'].data.id
  return {
    teams: await get('anna', '/organizations/demo/teams?include=users'),
    projects: await get('anna', '/organizations/demo/projects'),
    plain: await get('dora', '/organizations/demo/teams'),
    current: await get('dora', `/workspaces/${id}/current-state-version-outputs`),
    real: await get('rosa', `/state-versions/${state}/outputs`),
    hidden: await get('dora', `/state-versions/${state}/outputs`),
  }
}
