import { fragment, type Fragment } from '../jsonapi/document.ts'

/** The access of a team to a workspace or project. */
export function teamAccessFragment(
  thing: 'workspace' | 'project',
  row: { id: string; team_id: string },
  placeId: string,
  attributes: Record<string, unknown>,
): Fragment {
  const to = (type: string, id: string) => ({
    data: { id, type },
    links: { related: `/api/v2/${type}/${id}` },
  })
  const type = `team-${thing}s`
  return fragment({
    id: row.id,
    type,
    attributes,
    relationships: { team: to('teams', row.team_id), [thing]: to(`${thing}s`, placeId) },
    links: { self: `/api/v2/${type}/${row.id}` },
  })
}
