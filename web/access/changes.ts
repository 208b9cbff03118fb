import { request, type One } from '../api/client.ts'

/** One difference that a change of access makes. */
export type AccessChange = {
  readonly who: { readonly type: 'users' | 'teams'; readonly id: string; readonly name: string }
  readonly on: {
    readonly type: 'organizations' | 'workspaces' | 'projects'
    readonly id: string
    readonly name: string
  }
  readonly from?: string
  readonly to?: string
  readonly gained: readonly string[]
  readonly lost: readonly string[]
}

/** A token of a team or an organization that somebody who leaves has made or seen. */
export type KeptToken = {
  readonly id: string
  readonly organization: string
  readonly team: string | null
  readonly description: string | null
}

export type AccessChanges = {
  readonly truncated: boolean
  readonly changes: readonly AccessChange[]
  readonly tokens?: readonly KeptToken[]
  readonly 'tokens-truncated'?: boolean
  /** What else the change does, or does not do. */
  readonly warnings?: readonly string[]
}

/** A request that changes access. Its path has no query. */
export type Change = {
  readonly method: string
  readonly path: string
  readonly body?: object
  /** Also ends the tokens that the answer to a dry run names. */
  readonly endsTokens?: boolean
}

type Warned = { readonly meta?: { readonly warnings: readonly { readonly detail: string }[] } }

/** Asks the server what a change would do. Nothing is changed. */
export async function dryRun({ method, path, body }: Change, signal: AbortSignal): Promise<AccessChanges> {
  const answer = await request<One<AccessChanges> & Warned>(`${path}?dry-run=true`, { method, signal, body })
  return { ...answer.data.attributes, warnings: answer.meta?.warnings.map(({ detail }) => detail) ?? [] }
}

/** Makes the change. */
export async function apply({ method, path, body, endsTokens = false }: Change): Promise<void> {
  await request(endsTokens ? `${path}?end-tokens=true` : path, { method, body })
}

export type Sentence = { readonly isLoss: boolean; readonly text: string }

const places = { organizations: 'organization', workspaces: 'workspace', projects: 'project' } as const

/** The changes in one sentence for each kind, losses first. */
export function sentencesOf({ changes, truncated }: AccessChanges): Sentence[] {
  const kinds = new Map<string, AccessChange[]>()
  for (const change of changes) {
    const { who, on, from, to, gained, lost } = change
    const what = from === to ? `${gained.join()} ${lost.join()}` : ''
    const kind = `${who.type} ${on.type} ${from} ${to} ${what}`
    kinds.set(kind, [...(kinds.get(kind) ?? []), change])
  }
  const sentences = [...kinds.values()].map((alike) => sentenceOf(alike, truncated))
  return sentences.toSorted((a, b) => Number(b.isLoss) - Number(a.isLoss))
}

function sentenceOf(alike: readonly AccessChange[], isTruncated: boolean): Sentence {
  const [first] = alike
  if (first === undefined) return { isLoss: false, text: '' }
  const { from, to, gained, lost, on } = first
  const whose = new Set(alike.map(({ who }) => who.id))
  const where = new Set(alike.map((change) => change.on.id))
  const least = isTruncated ? 'at least ' : ''
  const who =
    first.who.type === 'teams'
      ? `the tokens of ${whose.size === 1 ? `the team ${first.who.name}` : least + counted(whose.size, 'team')}`
      : least + counted(whose.size, 'person', 'people')
  const place = where.size === 1 ? `the ${places[on.type]} ${on.name}` : counted(where.size, places[on.type])
  const isLoss = lost.length > 0
  const verb = first.who.type === 'teams' || whose.size > 1 ? '' : 's'
  if (from === to || from === undefined || to === undefined) {
    const words = [
      ...(lost.length > 0 ? [`lose${verb} ${lost.join(', ')}`] : []),
      ...(gained.length > 0 ? [`gain${verb} ${gained.join(', ')}`] : []),
    ]
    return { isLoss, text: `${who} ${words.join(' and ')} on ${place}` }
  }
  if (to === 'none') return { isLoss, text: `${who} lose${verb} ${from} on ${place}` }
  if (from === 'none') return { isLoss, text: `${who} gain${verb} ${to} on ${place}` }
  return { isLoss, text: `${who} ${verb === '' ? 'go' : 'goes'} from ${from} to ${to} on ${place}` }
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
