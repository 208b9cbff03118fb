/** What the form sends as the attributes of a grant. */
export type Attributes = Readonly<Record<string, string | boolean | object>>

type Kind = 'workspaces' | 'projects'

/** What a grant may give: the choices of the form, each with the words for a workspace and for a project. */
export const choices = {
  'read-outputs': {
    label: 'Outputs only',
    workspaces: 'outputs with their real values, and not the state',
    projects: 'outputs of all its workspaces with their real values, and not the states',
  },
  read: {
    label: 'Read',
    workspaces: 'states and outputs',
    projects: 'states and outputs of all its workspaces',
  },
  write: {
    label: 'Write',
    workspaces: 'also lock, and store states',
    projects: 'also lock the workspaces, and store states',
  },
  maintain: {
    label: 'Maintain',
    workspaces: undefined,
    projects: 'also create, change, delete and share workspaces in it',
  },
  admin: {
    label: 'Admin',
    workspaces: 'also change, delete and share the workspace',
    projects: 'also change, delete and share the project',
  },
  custom: {
    label: 'Custom',
    workspaces: 'each part by itself',
    projects: 'each part by itself, in all its workspaces',
  },
} as const

export type Choice = keyof typeof choices
const allNames: readonly Choice[] = ['read-outputs', 'read', 'write', 'maintain', 'admin', 'custom']

export function choiceNames(on: Kind): readonly Choice[] {
  return allNames.filter((name) => choices[name][on] !== undefined)
}

export const stateVersionParts = ['none', 'read-outputs', 'read', 'write'] as const
export type StateVersionPart = (typeof stateVersionParts)[number]

/** The attributes of a grant. `part` and `locks` count only for `custom`. */
export function attributesOf(on: Kind, choice: Choice, part: StateVersionPart, locks: boolean): Attributes {
  if (choice !== 'custom' && choice !== 'read-outputs') return { access: choice }
  const states = choice === 'custom' ? part : choice
  const mayLock = choice === 'custom' && locks
  return on === 'workspaces'
    ? { access: 'custom', 'state-versions': states, 'workspace-locking': mayLock }
    : { access: 'custom', 'workspace-access': { 'state-versions': states, locking: mayLock } }
}

/** The parts of a grant that gives these actions. */
export function partsOf(gives: readonly string[]): { part: StateVersionPart; locks: boolean } {
  const has = (action: string) => gives.includes(action) || gives.includes(`workspaces/${action}`)
  const part = has('write-state')
    ? 'write'
    : has('read-state')
      ? 'read'
      : has('read-outputs')
        ? 'read-outputs'
        : 'none'
  return { part, locks: has('lock') }
}
