import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import {
  accessGrantsQuery,
  accessHoldersQuery,
  effectiveAccessQuery,
  type Grant,
  type NeededGrant,
} from '../access/access-grants-query.ts'
import { allowedIn } from '../access/actions.ts'
import { AccessPreview } from '../access/access-preview.tsx'
import shape from '../access/access.module.css'
import type { Change } from '../access/changes.ts'
import { memberChange } from '../access/grant-changes.ts'
import { useMayAsk } from '../access/ask-link.tsx'
import { useAccessChange } from '../access/use-access-change.ts'
import { Button } from '../kit/button.tsx'
import { Form } from '../kit/form.tsx'
import styles from '../kit/kit.module.css'
import { Failed, Loading } from '../kit/states.tsx'
import { membershipOfQuery } from '../people/people-query.ts'
import {
  actionOf,
  grantChange,
  optionsOf,
  teamsToJoin,
  waysOn,
  type Option,
  type Place,
  type Way,
} from './ways.ts'

type Caller = { readonly type: string; readonly id: string; readonly name: string }
type Props = {
  readonly organization: string
  readonly caller: Caller
  readonly permission: string
  readonly ways: readonly NeededGrant[]
}

/** Gives what was missing, right at the refusal, for those who may. */
export function WaysOut(props: Props) {
  const [isOpen, setOpen] = useState(false)
  const [isGiven, setGiven] = useState(false)
  const ways = waysOn(props.ways)
  const mayGive = useMayAsk(props.organization) === true
  if (isGiven) {
    return <p role="status">✓ Given. {props.caller.name} can try again now.</p>
  }
  if (!mayGive || ways.length === 0 || props.caller.type === 'organizations') return null
  if (!isOpen) {
    return (
      <p>
        <Button onClick={() => setOpen(true)}>Choose what to give</Button>
      </p>
    )
  }
  return <Choices {...props} given={ways} onDiscard={() => setOpen(false)} onGiven={() => setGiven(true)} />
}

/** The first place of the ways: the workspace, or the project if the request was about a project. */
function useTeamsToJoin(ways: readonly Way[], permission: string, isPerson: boolean) {
  const place = ways[0]?.place
  const may = place === undefined ? undefined : actionOf(permission, place)
  return useQuery({
    ...accessHoldersQuery(place?.type ?? 'workspaces', place?.id ?? '', {
      q: '',
      may: may ?? '',
      who: 'teams',
      page: 1,
    }),
    enabled: isPerson && may !== undefined,
  })
}

/** Whether the caller may do it by now: somebody may have given access since the refusal. */
function useMayNow(organization: string, caller: Caller, permission: string, place: Place | undefined) {
  const action = place === undefined ? undefined : actionOf(permission, place)
  const whose = caller.type === 'users' ? { user: caller.id } : { team: caller.id }
  const where = place?.type === 'projects' ? { project: place.id } : { workspace: place?.id }
  return useQuery({
    ...effectiveAccessQuery(organization, { ...whose, ...where }),
    enabled: action !== undefined,
    select: ({ data: [found] }) =>
      found !== undefined && action !== undefined && allowedIn(found.attributes)[action] === true,
  })
}

function Choices({
  organization,
  caller,
  permission,
  given,
  onDiscard,
  onGiven,
}: Props & { readonly given: readonly Way[]; readonly onDiscard: () => void; readonly onGiven: () => void }) {
  const isPerson = caller.type === 'users'
  const [teamId, setTeamId] = useState<string>()
  const [chosen, setChosen] = useState<string>()
  const found = useQuery({ ...membershipOfQuery(organization, caller), enabled: isPerson })
  const member = found.data ?? undefined
  const holders = useTeamsToJoin(given, permission, isPerson)
  const teams = isPerson ? (member?.teams ?? []) : [{ id: caller.id, name: caller.name }]
  const team = teams.find(({ id }) => id === teamId) ?? teams[0]
  const join = member === undefined ? [] : teamsToJoin(holders.data?.data ?? [], member.teams)
  const options = optionsOf(team === undefined ? [] : given, join)
  const option = options.find(({ key }) => key === chosen)
  const way = option?.way
  const grants = useQuery({
    ...accessGrantsQuery(way?.place.type ?? 'workspaces', way?.place.id ?? '', 1, 100),
    enabled: way !== undefined,
  })
  const change = changeOf(option, {
    teamId: team?.id,
    membershipId: member?.id,
    // The grants of the place that was chosen before say nothing about this one.
    grants: grants.isPlaceholderData ? undefined : grants.data?.data,
  })
  const give = useAccessChange(onGiven)
  const mayNow = useMayNow(organization, caller, permission, given[0]?.place)
  if ((isPerson && found.isPending) || mayNow.isLoading) return <Loading />
  if (found.isError) return <Failed error={found.error} />
  if (isPerson && member === undefined) {
    return (
      <p className={styles.dim}>
        {caller.name} is no active member of the organization now. Invite them first.
      </p>
    )
  }
  if (mayNow.data === true) {
    return <p role="status">✓ {caller.name} may do this by now. Nothing is missing any more.</p>
  }
  const submit = () => {
    if (change !== undefined) give.mutate(change)
  }
  return (
    <Form className={shape.form} onSubmit={submit} aria-label={`Give access to ${caller.name}`}>
      {teams.length > 1 ? (
        <label className={styles.field}>
          The team that gets access
          <select value={team?.id} onChange={(event) => setTeamId(event.target.value)}>
            {teams.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      ) : null}
      <fieldset className={styles.choices}>
        <legend>What to give</legend>
        {options.map((one) => (
          <label key={one.key}>
            <input type="radio" name="way" checked={chosen === one.key} onChange={() => setChosen(one.key)} />{' '}
            <OptionWords option={one} caller={caller.name} team={team?.name ?? ''} />
          </label>
        ))}
        {options.length === 0 && !holders.isLoading ? (
          <span className={styles.dim}>
            They are in no team that could get access, and no team but owners has it. Put them into a team
            first.
          </span>
        ) : null}
      </fieldset>
      {change === undefined ? null : <AccessPreview change={change} />}
      {give.isError ? <Failed error={give.error} /> : null}
      <p>
        <Button onClick={onDiscard}>Discard</Button>{' '}
        <Button type="submit" kind="main" disabled={change === undefined || give.isPending}>
          Give access
        </Button>
      </p>
    </Form>
  )
}

function OptionWords({
  option: { way, join },
  caller,
  team,
}: {
  readonly option: Option
  readonly caller: string
  readonly team: string
}) {
  if (join !== undefined) {
    return (
      <>
        put {caller} into the team <span dir="auto">{join.who.name}</span>, which has{' '}
        <span className={styles.mono}>{join.level}</span> there
      </>
    )
  }
  if (way === undefined) return null
  return (
    <>
      give the team <span dir="auto">{team}</span> access <span className={styles.mono}>{way.access}</span> on
      the {way.place.type === 'workspaces' ? 'workspace' : 'project'} <span dir="auto">{way.place.name}</span>
    </>
  )
}

/** Undefined while nothing is chosen, or while it is not known which grants the team has. */
function changeOf(
  option: Option | undefined,
  {
    teamId,
    membershipId,
    grants,
  }: {
    readonly teamId: string | undefined
    readonly membershipId: string | undefined
    readonly grants: readonly Grant[] | undefined
  },
): Change | undefined {
  const { way, join } = option ?? {}
  if (join !== undefined) {
    return membershipId === undefined ? undefined : memberChange('POST', join.who.id, [membershipId])
  }
  if (way === undefined || teamId === undefined || grants === undefined) return undefined
  return grantChange(way, teamId, grants)
}
