import type { Permission } from '../access/rules.ts'
import { existing } from '../core/existing.ts'
import { list, type Listing } from '../http/read-route.ts'
import type { Loaded, Loading, Place, Route } from '../http/route.ts'
import { listDocument } from '../jsonapi/document.ts'
import { choice, text } from '../jsonapi/parameters.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { projectPlace } from '../projects/project-place.ts'
import { countWorkspaces } from '../workspaces/workspace-list-store.ts'
import { workspacePlace } from '../workspaces/workspace-place.ts'
import { accessHolderFragment } from './access-holder-document.ts'
import { countGiving, givingTeams, namedTeamsOfUsers } from './access-holder-store.ts'
import { givingOf } from './access-holders.ts'
import { accessOfHolders, refuseTooManyNamed } from './effective-access.ts'
import type { Holder } from './holdings.ts'
import { actionsBeyondMembers, permissionsOn, type On } from './levels.ts'
import { placeOf, placeOfProject, type NamedPlace } from './places.ts'
import { teamHolder } from './subjects.ts'

/** Whoever asks about everybody's access to a place must see the place, too. */
function seen<A, R extends Loaded>(place: Place<A, R>, permission: Permission) {
  const load = async (context: Loading<A>) => {
    const loaded = await place.load(context)
    return loaded && { ...loaded, also: { permission, target: loaded.target } }
  }
  return { ...place, load }
}

const queryOn = (on: On) => ({
  q: text('Part of the name of the person or team, ignoring case'),
  'filter[may]': choice('Only holders who may do this', ...Object.keys(permissionsOn[on])),
  'filter[who]': choice('Only people, or only teams by what their tokens may do', 'users', 'teams'),
})

function holdersRoute<A, R extends Loaded & { organization: OrganizationRow }>(
  on: On,
  place: Place<A, R>,
  placeIn: (loaded: R) => NamedPlace,
): Route {
  return list(seen(place, `${on}:read`), '/access-holders', {
    permission: 'effective-access:read',
    summary: `List the people and teams that may do more on a ${on} than a plain member, and by which grants`,
    query: queryOn(on),
    answers: 'access-holders',
    document: (context) => holdersDocument(context, context.resource.organization, placeIn(context.resource)),
  })
}

export const accessHolderRoutes: readonly Route[] = [
  holdersRoute('workspace', workspacePlace, ({ workspace }) => placeOf(workspace)),
  holdersRoute('project', projectPlace, ({ project }) => placeOfProject(project)),
]

/** So many are a slow read, see `willLookAt`. */
const MANY_GRANTS = 501

type Asked = Listing<unknown, object, ReturnType<typeof queryOn>>
/** A page of the holders: first the teams, then the people, each by name. */
async function holdersDocument(
  context: Asked,
  organization: OrganizationRow,
  place: NamedPlace,
): Promise<string> {
  const { tx, deps, query, page, paging, mayReadAgain, willLookAt } = context
  const { q, 'filter[may]': may, 'filter[who]': who } = query
  const { inForce } = deps.standings
  const wanted = actionsBeyondMembers(place.on, may)
  const teamsIn = (reading: typeof tx, now: OrganizationRow) =>
    givingTeams(reading, now.id, place, givingOf(place.on, wanted, now, inForce))
  if (place.on === 'project') await willLookAt(() => countWorkspaces(tx, organization.id))
  await willLookAt(() => countGiving(tx, organization.id, place, MANY_GRANTS))
  const teams = await teamsIn(tx, organization)
  if (who !== 'teams') await willLookAt(() => teams.reduce((sum, team) => sum + team.users_count, 0))
  const isFound = ({ name }: { name: string }) => q === undefined || holds(name, q)
  const named = who === 'users' ? [] : teams.filter(isFound)
  const asked = { organization, teams, key: `${place.id} ${wanted}`, teamsIn }
  const all = who === 'teams' ? [] : (await deps.peopleOfTeams.in(tx, asked, mayReadAgain)).filter(isFound)
  const offset = (page.number - 1) * page.size
  const shown = named.slice(offset, offset + page.size)
  const people = all.slice(Math.max(0, offset - named.length), Math.max(0, offset + page.size - named.length))
  const peopleIds = people.map(({ id }) => id)
  const teamsOf = Map.groupBy(
    await namedTeamsOfUsers(tx, organization.id, peopleIds, place),
    ({ user_id: id }) => id,
  )
  const holders = [
    ...shown.map(teamHolder),
    ...peopleIds.map((id): Holder => ({
      kind: 'user',
      id,
      isSiteAdmin: false,
      status: 'active',
      teams: teamsOf.get(id) ?? [],
    })),
  ]
  const found = await accessOfHolders(tx, holders, { organization, inForce }, [place])
  refuseTooManyNamed(found)
  const names = new Map([...shown, ...people].map(({ id, name }) => [id, name]))
  const fragments = found.map((one) => accessHolderFragment(existing(names.get(one.holder.id)), one))
  return listDocument(fragments, paging(named.length + all.length))
}

/** As `holdsText` in SQL: without the case of ASCII letters. */
function holds(name: string, part: string): boolean {
  const lower = (given: string) => given.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return lower(name).includes(lower(part))
}
