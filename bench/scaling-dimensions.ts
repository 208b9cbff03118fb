// All that is measured while the data grows, in the order of the page.
import type { Dimension } from './scaling-asked.ts'
import { events, members, organizations } from './scaling-people.ts'
import { teams, teamsOfPerson, teamsOfWorkspace } from './scaling-teams.ts'
import { rest } from './scaling-rest.ts'
import { outputs, projects, stateVersions, workspaces } from './scaling-workspaces.ts'

export const dimensions: readonly Dimension[] = [
  teams,
  teamsOfWorkspace,
  workspaces,
  projects,
  outputs,
  stateVersions,
  members,
  teamsOfPerson,
  organizations,
  events,
  rest,
]
