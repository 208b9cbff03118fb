import type { AccessKind } from './both-sides.ts'
import {
  Unreadable,
  type AccessRecord,
  type ConsumersRecord,
  type MemberRecord,
  type OrganizationRecord,
  type ProjectRecord,
  type StateChoice,
  type StateRecord,
  type TeamRecord,
  type TokenRecord,
  type WorkspaceRecord,
} from './records.ts'

/** What an import or export reads from: another server, or the files of an export. */
export interface Source {
  /** Printed and audited, so it has no token in it. */
  readonly name: string
  /** Identifies the source for later imports. The source cannot choose it, so it cannot pose as another one. */
  readonly identity: string
  /** The named organizations, or all visible ones. Throws if one of the names does not exist. */
  organizations(names: readonly string[]): Promise<OrganizationRecord[]>
  projects(organization: string, reading: Reading): Promise<ProjectRecord[]>
  teams(organization: string, reading: Reading): Promise<TeamRecord[]>
  workspaces(organization: string, reading: Reading): Promise<WorkspaceRecord[]>
  members(organization: string, reading: Reading): Promise<MemberRecord[]>
  /** The access of teams to one project or workspace. */
  access(kind: AccessKind, organization: string, placeId: string): Promise<AccessRecord[]>
  /** Empty, or one record. */
  consumers(organization: string, workspace: WorkspaceRecord): Promise<ConsumersRecord[]>
  /** The existing tokens, without their texts. */
  tokens(organization: string, teams: readonly TeamRecord[]): Promise<TokenRecord[]>
  /** The finalized versions of a workspace, oldest first. */
  states(organization: string, workspace: WorkspaceRecord, which: StateChoice): Promise<StateRecord[]>
  /** Writes the bytes of a state to the sink, at most `limit` of them. */
  content(state: StateRecord, kind: 'state' | 'jsonState', limit: number, sink: Sink): Promise<void>
}

/** Receives bytes. */
export type Sink = {
  /** Discards everything, because the content is sent again from its beginning. */
  restart(): void
  write(chunk: Uint8Array): void
}

/** Passes content on, and throws Unreadable if it is longer than `limit` bytes. */
export async function* upTo(
  limit: number,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let size = 0
  // Count the bytes while reading, because neither headers nor compression tell the real size.
  for await (const chunk of content) {
    size += chunk.length
    if (size > limit) throw new Unreadable(`it is larger than ${limit} bytes`)
    yield chunk
  }
}

/** Callbacks while a list is read. */
export type Reading = {
  /** Called after each item that needed a separate request. */
  step: (done: number, total: number) => void
  /** Called for an item that could not be read; the others are still read. */
  unreadable: (name: string, reason: string) => void
}
