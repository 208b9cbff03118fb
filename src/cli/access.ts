import type { Config } from '../config.ts'
import { OperatorError } from '../core/operator-error.ts'
import type { Transaction } from '../database/database.ts'
import { accessOfHolders, effectiveAccessOn } from '../effective-access/effective-access.ts'
import {
  effectiveAccessFragment,
  type EffectiveAccess,
} from '../effective-access/effective-access-document.ts'
import { actionsOn, levelOn, namesOfActions, type Held, type On } from '../effective-access/levels.ts'
import { findPlace, placeOf, type PlaceAddress } from '../effective-access/places.ts'
import { findSubject, type SubjectAddress } from '../effective-access/subjects.ts'
import { listDocument } from '../jsonapi/document.ts'
import type { OrganizationRow } from '../organizations/organization-store.ts'
import { inForceOf } from '../teams/team-fields.ts'
import { findTeamByName } from '../teams/team-store.ts'
import { listVisibleWorkspaces } from '../workspaces/workspace-list-store.ts'
import { readDatabase } from '../operation/command-database.ts'
import { organizationNamed } from './named.ts'
import { note, print, printTable } from './output.ts'

/** Somebody who can open the database may see everything, like a site administrator. */
const operator = { isSiteAdmin: true, userId: null }
const WORKSPACES_AT_ONCE = 100

type AccessOptions = {
  organization: string
  subject: SubjectAddress
  place: PlaceAddress | undefined
  asJson: boolean
}

export async function printAccess(config: Config, options: AccessOptions): Promise<void> {
  const found = await readDatabase(config, async (tx) => {
    const organization = await organizationNamed(tx, options.organization)
    const subject = await findSubject(
      tx,
      organization.id,
      await byTeamId(tx, organization, options.subject),
      operator,
    )
    if (subject === undefined) throw missing(options.subject, options.organization)
    const about = { holder: await subject.holder(tx), organization, inForce: inForceOf(config) }
    if (options.place === undefined) return onAllWorkspaces(tx, about)
    const place = await findPlace(tx, organization.id, options.place)
    if (place === undefined) throw missing(options.place, options.organization)
    return effectiveAccessOn(tx, about, place)
  })
  if (options.asJson) print(listDocument(found.map(effectiveAccessFragment)))
  else if (found.length === 0) note(`there are no workspaces in ${options.organization}`)
  else printTable([['name', 'level', 'because of'], ...found.map(rowOf)])
}

function missing(address: SubjectAddress | PlaceAddress, organization: string): OperatorError {
  const [[kind, name] = []] = Object.entries(address)
  return new OperatorError(`there is no ${kind} ${name} in ${organization}`)
}

/** Replaces a team's name by its id. Only the command line accepts names of teams. */
async function byTeamId(
  tx: Transaction,
  organization: OrganizationRow,
  subject: SubjectAddress,
): Promise<SubjectAddress> {
  if (!('team' in subject)) return subject
  const named = (await findTeamByName(tx, organization.id, subject.team))?.id
  return named === undefined ? subject : { team: named }
}

async function onAllWorkspaces(
  tx: Transaction,
  about: Parameters<typeof effectiveAccessOn>[1] & { organization: OrganizationRow },
): Promise<EffectiveAccess[]> {
  const found: EffectiveAccess[] = []
  for (let number = 1; ; number += 1) {
    const page = { number, size: WORKSPACES_AT_ONCE }
    const { workspaces } = await listVisibleWorkspaces(tx, about.organization.id, 'everything', {}, page)
    if (workspaces.length === 0) return found
    for (const one of await accessOfHolders(tx, [about.holder], about, workspaces.map(placeOf)))
      found.push(one)
  }
}

function rowOf({ place, held, sources }: EffectiveAccess): string[] {
  const because = sources
    .filter(({ source, held: alone }) => source !== 'organization-member' && actionsOn(place.on, alone) !== 0)
    .map(({ source, team, flag, grant }) =>
      [
        flag ?? source,
        grant === undefined ? undefined : `${grant.access} (${grant.id})`,
        team === undefined ? undefined : `of team ${team.name}`,
      ]
        .filter((part) => part !== undefined)
        .join(' '),
    )
  return [place.name, levelOn(place.on, held), because.join(', ') || membershipGives(place.on, held)]
}

/** Without grants. A member may read current outputs, although they do not see the workspace. */
function membershipGives(on: On, held: Held): string {
  const names = namesOfActions(on, actionsOn(on, held))
  return names.length === 0 ? '-' : `organization-member (only ${names.join(', ')})`
}
