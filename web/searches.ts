/**
 * What the addresses of pages carry behind the question mark. The router keeps what a function here leaves out, so each
 * returns every name that it reads, undefined if the value is not valid: nothing else reaches a page.
 */

type Given = Record<string, unknown>
type Optional<Values> = { [Name in keyof Values]?: Values[Name] | undefined }

/** What a link to the page may leave out. */
const optional = <Values extends object>(values: Values): Optional<Values> => values

/** A search text and a page in the address; neither if they are as at the beginning. */
export const searched = ({ q, page }: Given): { q?: string | undefined; page?: number | undefined } => ({
  q: textOf(q),
  page: typeof page === 'number' && Number.isSafeInteger(page) && page > 1 ? page : undefined,
})

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

const paged = ({ page }: Given) => optional({ page: searched({ page }).page })

/** The state version that is shown, and the one that it is compared with. */
export const comparison = ({ version, since, page }: Given) =>
  optional({
    version: textOf(version),
    since: textOf(since),
    ...paged({ page }),
  })

export const auditSearch = ({ actor, action, resource, request, output, address, page }: Given) =>
  optional({
    actor: textOf(actor),
    action: textOf(action),
    resource: textOf(resource),
    request: textOf(request),
    output: textOf(output),
    address: textOf(address),
    ...paged({ page }),
  })

/** Who may do what on a workspace or project: teams or, without `who`, people. */
export const holders = ({ q, may, who, page }: Given) =>
  optional({
    may: textOf(may),
    who: who === 'teams' ? ('teams' as const) : undefined,
    ...searched({ q, page }),
  })

export const question = ({ user, team, workspace, project, page }: Given) =>
  optional({
    user: textOf(user),
    team: textOf(team),
    workspace: textOf(workspace),
    project: textOf(project),
    ...paged({ page }),
  })

export const onePage = paged

/** `q` is a request id. `all`: also of callers who had the permission. */
export const refusalSearch = ({ q, all, page }: Given) =>
  optional({
    all: all === true ? (true as const) : undefined,
    ...searched({ q, page }),
  })

/** After a sign-in: leads to somebody's only organization. */
export const home = ({ home: isHome }: Given): { home?: true | undefined } => ({
  home: isHome === true ? isHome : undefined,
})

/** The page to go on to after a sign-in. Only a path of our own: another address would send people somewhere else. */
export const goingOn = ({ next }: Given): { next?: string | undefined } => ({
  next: typeof next === 'string' && /^\/(?![\/\\])[^\\\p{Cc}]*$/v.test(next) ? next : undefined,
})

export const invitation = ({ invited }: Given): { invited?: true | undefined } => ({
  invited: invited === true ? invited : undefined,
})

/** CLIs open the tokens with source=terraform-login. */
export const tokenSource = ({ source }: Given) => optional({ source: textOf(source) })

/** The parameters with which `tofu login` and `terraform login` open the page. The server validates them. */
export const loginParameters = [
  'client_id',
  'response_type',
  'redirect_uri',
  'code_challenge',
  'code_challenge_method',
  'state',
] as const

type LoginSearch = { readonly [Name in (typeof loginParameters)[number]]?: string | undefined }

export const loginSearch = (given: Given): LoginSearch =>
  Object.fromEntries(
    loginParameters.map((name) => {
      const value = given[name]
      return [name, typeof value === 'number' ? String(value) : textOf(value)]
    }),
  )
