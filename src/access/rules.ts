/**
 * THE table of permissions. A row is a permission. A column is a role or a grant of the caller; a caller may have
 * several columns, and gets what any of them gives.
 *
 *   Y yes · v only teams that the caller can see, never `owners` · s only the caller's own ·
 *   seen a team that the caller can see · own grants of the caller's own teams ·
 *   both the user and the caller are active in one organization ·
 *   Y6 not the team `owners` · Y7 the caller is a person and the team lets its members manage its tokens ·
 *   v5 like v, and the team is no stronger than the caller: the caller has its flags and could give its grants ·
 *   v3 like v5 for every team of that user · . adds nothing · - no: the answer is 404
 *
 *   SA site administrator · OW owner, owners team token · OG organization token · MM manage-membership ·
 *   MT manage-teams, MO manage-organization-access: only if the organization has
 *   switched on delegated-team-management ·
 *   MW manage-workspaces · MP manage-projects · RO read-workspaces or read-projects · AU read-audit · PM plain member ·
 *   TM member of the team that the request is about ·
 *   on the workspace: R read or plan, W write, A admin; custom access: cO state versions read-outputs,
 *   cR read, cW write, cL workspace locking; on its project: pC may create workspaces, pA admin ·
 *   TT team token · IN invited · OUT any other user
 */
// prettier-ignore
export const columns = [
  'SA', 'OW', 'OG', 'MM', 'MT', 'MO', 'MW', 'MP', 'RO', 'AU', 'PM', 'TM', 'R', 'W', 'A', 'cO', 'cR', 'cW', 'cL', 'pC', 'pA', 'TT', 'IN', 'OUT',
] as const

export type Column = (typeof columns)[number]

export const cells = ['Y', 'v', 's', 'seen', 'own', 'both', 'Y6', 'Y7', 'v5', 'v3'] as const
export type Cell = (typeof cells)[number]

// prettier-ignore
export const rules = {
  //                            SA   OW   OG   MM   MT   MO   MW   MP   RO   AU   PM   TM   R    W    A    cO   cR   cW   cL   pC   pA   TT   IN   OUT
  'account:read':              's    s    s    .    .    .    .    .    .    .    s    .    .    .    .    .    .    .    .    .    .    s    s    s',
  'organization:create':       'Y    Y    -    .    .    .    .    .    .    .    Y    .    .    .    .    .    .    .    .    .    .    -    Y    Y',
  'organizations:list':        'Y    s    s    .    .    .    .    .    .    .    s    .    .    .    .    .    .    .    .    .    .    s    s    s',
  'organizations:administer':  'Y    -    -    .    .    .    .    .    .    .    -    .    .    .    .    .    .    .    .    .    .    -    -    -',
  'organization:read':         'Y    Y    Y    .    .    .    .    .    .    .    Y    .    .    .    .    .    .    .    .    .    .    Y    -    -',
  'organization:manage':       'Y    Y    -    .    .    .    .    .    .    .    -    .    .    .    .    .    .    .    .    .    .    -    -    -',
  'memberships:list':          'Y    Y    Y    Y    Y    Y    .    .    .    .    -    .    .    .    .    .    .    .    .    .    .    -    -    -',
  'membership:read':           'Y    Y    Y    Y    Y    Y    .    .    .    .    s    .    .    .    .    .    .    .    .    .    .    -    s    -',
  'membership:invite':         'Y    Y    Y    v5   v5   v5   .    .    .    .    -    .    .    .    .    .    .    .    .    .    .    -    -    -',
  'membership:accept':         's    s    .    .    .    .    .    .    .    .    s    .    .    .    .    .    .    .    .    .    .    -    s    -',
  'membership:remove':         'Y    Y    Y    v3   v3   v3   .    .    .    .    s    .    .    .    .    .    .    .    .    .    .    -    s    -',
  'team:read':                 'Y    Y    Y    .    .    .    .    .    .    .    seen Y    .    .    .    .    .    .    .    .    .    seen -    -',
  'team:manage':               'Y    Y    Y    -    v5   v5   .    .    .    .    -    -    .    .    .    .    .    .    .    .    .    -    -    -',
  'team:grant':                'Y    Y    Y    -    -    v5   .    .    .    .    -    -    .    .    .    .    .    .    .    .    .    -    -    -',
  'team:update-members':       'Y    Y    Y    v5   v5   v5   .    .    .    .    -    -    .    .    .    .    .    .    .    .    .    -    -    -',
  'team:tokens':               'Y    Y    Y6   -    v5   v5   .    .    .    .    -    Y7   .    .    .    .    .    .    .    .    .    -    -    -',
  'organization:token':        'Y    Y    -    .    .    .    .    .    .    .    -    .    .    .    .    .    .    .    .    .    .    -    -    -',
  'user:tokens':               'Y    s    -    .    .    .    .    .    .    .    s    .    .    .    .    .    .    .    .    .    .    -    s    s',
  'users:administer':          'Y    -    -    .    .    .    .    .    .    .    -    .    .    .    .    .    .    .    .    .    .    -    -    -',
  'user:read':                 'Y    both both .    .    .    .    .    .    .    both .    .    .    .    .    .    .    .    .    .    both s    s',
  'project:read':              'Y    Y    Y    .    .    .    Y    Y    Y    .    -    .    Y    Y    Y    Y    Y    Y    Y    Y    Y    .    -    -',
  'project:create':            'Y    Y    Y    .    .    .    -    Y    -    .    -    .    .    .    .    .    .    .    .    .    .    .    -    -',
  'project:manage':            'Y    Y    Y    .    .    .    -    Y    -    .    -    .    .    .    .    .    .    .    .    .    Y    .    -    -',
  'workspace:read':            'Y    Y    Y    .    .    .    Y    Y    Y    .    -    .    Y    Y    Y    Y    Y    Y    Y    Y    Y    .    -    -',
  'workspace:create':          'Y    Y    Y    .    .    .    Y    Y    -    .    -    .    -    -    -    -    -    -    -    Y    Y    .    -    -',
  'workspace:manage':          'Y    Y    Y    .    .    .    Y    Y    -    .    -    .    -    -    Y    -    -    -    -    -    Y    .    -    -',
  'workspace:lock':            'Y    Y    -    .    .    .    Y    Y    -    .    -    .    -    Y    Y    -    -    -    Y    -    Y    .    -    -',
  'workspace:force-unlock':    'Y    Y    -    .    .    .    Y    Y    -    .    -    .    -    -    Y    -    -    -    -    -    Y    .    -    -',
  'team-access:read':          'Y    Y    Y    .    .    .    v    v    own  .    own  own  own  own  v    own  own  own  own  own  v    own  -    -',
  'team-access:manage':        'Y    Y    Y    .    .    .    v    v    -    .    -    .    -    -    v    -    -    -    -    -    v    .    -    -',
  'project-access:read':      'Y    Y    Y    .    .    .    v    v    own  .    own  own  own  own  own  own  own  own  own  own  v    own  -    -',
  'project-access:manage':    'Y    Y    Y    .    .    .    -    v    -    .    -    .    -    -    -    -    -    -    -    -    v    .    -    -',
  'state-version:create':      'Y    Y    -    .    .    .    Y    Y    -    .    -    .    -    Y    Y    -    -    Y    -    -    Y    .    -    -',
  'state-version:read':        'Y    Y    -    .    .    .    Y    Y    Y    .    -    .    Y    Y    Y    -    Y    Y    -    -    Y    .    -    -',
  'outputs:read':              'Y    Y    -    .    .    .    Y    Y    Y    .    -    .    Y    Y    Y    Y    Y    Y    -    -    Y    .    -    -',
  'outputs:read-current':      'Y    Y    -    .    .    .    Y    Y    Y    .    Y    .    Y    Y    Y    Y    Y    Y    -    -    Y    Y    -    -',
  'state-content:manage':      'Y    Y    -    .    .    .    .    .    .    .    -    .    .    .    .    .    .    .    .    .    .    -    -    -',
  'audit:read':                'Y    Y    -    .    .    .    .    .    .    Y    -    .    .    .    .    .    .    .    .    .    .    -    -    -',
  'refusals:read':             'Y    Y    -    .    .    .    .    .    .    Y    -    .    .    .    .    .    .    .    .    .    .    -    -    -',
  'refusals:read-all':         'Y    -    -    .    .    .    .    .    .    .    -    .    .    .    .    .    .    .    .    .    .    -    -    -',
  // The target is the organization of an audit-trails token. Such a token may do nothing else, see isPermitted.
  'audit-trail:read':          '-    -    s    .    .    .    .    .    .    .    -    .    .    .    .    .    .    .    .    .    .    -    -    -',
  'effective-access:read':     'Y    Y    Y    .    .    .    .    .    .    .    s    .    .    .    .    .    .    .    .    .    .    s    -    -',
} as const

export type Permission = keyof typeof rules
