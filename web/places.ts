/**
 * The pages of an organization, as the navigation and Find name them. Those of a `part` stand together. `needs` is the
 * caller's permission without which one is left out.
 */
export const places = [
  { part: 'places', to: '/$organization/workspaces', name: 'Workspaces' },
  { part: 'places', to: '/$organization/projects', name: 'Projects' },
  { part: 'people', to: '/$organization/settings/teams', name: 'Teams' },
  { part: 'people', to: '/$organization/people', name: 'People', needs: 'can-view-users' },
  { part: 'people', to: '/$organization/access', name: 'Access' },
  { part: 'records', to: '/$organization/refusals', name: 'Refusals', needs: 'can-read-refusals' },
  { part: 'records', to: '/$organization/audit', name: 'Audit trail', needs: 'can-read-audit-events' },
  { part: 'settings', to: '/$organization/settings/general', name: 'Settings', needs: 'can-update' },
] as const

type Permissions = Readonly<Record<string, boolean>>

/** The pages that are the caller's. */
export function placesFor(may: Permissions): readonly (typeof places)[number][] {
  return places.filter((place) => !('needs' in place) || may[place.needs] === true)
}
