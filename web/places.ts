/** The pages of an organization, as the bar and Find name them. `needs` is the caller's permission without which one is left out. */
export const places = [
  { to: '/$organization/workspaces', name: 'Workspaces' },
  { to: '/$organization/projects', name: 'Projects' },
  { to: '/$organization/settings/teams', name: 'Teams' },
  { to: '/$organization/access', name: 'Access' },
  { to: '/$organization/people', name: 'People', needs: 'can-view-users' },
  { to: '/$organization/refusals', name: 'Refusals', needs: 'can-read-refusals' },
  { to: '/$organization/audit', name: 'Audit trail', needs: 'can-read-audit-events' },
  { to: '/$organization/settings/general', name: 'Settings', needs: 'can-update' },
] as const

type Permissions = Readonly<Record<string, boolean>>

/** The pages that are the caller's. */
export function placesFor(may: Permissions): readonly (typeof places)[number][] {
  return places.filter((place) => !('needs' in place) || may[place.needs] === true)
}
