/** What a grant on a workspace may give: the choices of the form, each with what it is sent as. */
export const choices = {
  'read-outputs': {
    label: 'Outputs only',
    says: 'outputs with their real values, and not the state',
    sent: { access: 'custom', 'state-versions': 'read-outputs' },
  },
  read: { label: 'Read', says: 'states and outputs', sent: { access: 'read' } },
  write: { label: 'Write', says: 'also lock, and store states', sent: { access: 'write' } },
  admin: {
    label: 'Admin',
    says: 'also change, delete and share the workspace',
    sent: { access: 'admin' },
  },
  custom: { label: 'Custom', says: 'each part by itself', sent: { access: 'custom' } },
} as const

export type Choice = keyof typeof choices
export const choiceNames: readonly Choice[] = ['read-outputs', 'read', 'write', 'admin', 'custom']

export const stateVersionParts = ['none', 'read-outputs', 'read', 'write'] as const
export type StateVersionPart = (typeof stateVersionParts)[number]
