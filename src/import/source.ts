import type {
  AccessRecord,
  ConsumersRecord,
  MemberRecord,
  OrganizationRecord,
  ProjectRecord,
  StateChoice,
  StateRecord,
  TeamRecord,
  TokenRecord,
  WorkspaceRecord,
} from './records.ts'

/** Where an import or export reads from: another server, or the files of an export. */
export interface Source {
  /** As it is printed and audited: without a token. */
  readonly name: string
  /** By which a later import knows it again: nothing that the source could choose to be taken for another one. */
  readonly identity: string
  /** Those of these names, or all that can be seen. Throws when one of the names is not there. */
  organizations(names: readonly string[]): Promise<OrganizationRecord[]>
  projects(organization: string, reading: Reading): Promise<ProjectRecord[]>
  teams(organization: string, reading: Reading): Promise<TeamRecord[]>
  workspaces(organization: string, reading: Reading): Promise<WorkspaceRecord[]>
  members(organization: string, reading: Reading): Promise<MemberRecord[]>
  projectAccess(organization: string, project: ProjectRecord): Promise<AccessRecord[]>
  workspaceAccess(organization: string, workspace: WorkspaceRecord): Promise<AccessRecord[]>
  /** None, or one record. */
  consumers(organization: string, workspace: WorkspaceRecord): Promise<ConsumersRecord[]>
  /** What tokens there are; never what they are. */
  tokens(organization: string, teams: readonly TeamRecord[]): Promise<TokenRecord[]>
  /** The finalized versions of a workspace, oldest first. */
  states(organization: string, workspace: WorkspaceRecord, which: StateChoice): Promise<StateRecord[]>
  /** Writes the bytes of a state, at most `limit` of them. */
  content(state: StateRecord, kind: 'state' | 'jsonState', limit: number, sink: Sink): Promise<void>
}

/** What takes bytes as they come. */
export type Sink = {
  /** Forgets what has come: it comes once more, from its beginning. */
  restart(): void
  write(chunk: Uint8Array): void
}

/** Told while a list is read. */
export type Reading = {
  /** After each thing that took a request of its own. */
  step: (done: number, total: number) => void
  /** Of one thing in the list, without which the others are read. */
  unreadable: (name: string, reason: string) => void
}
