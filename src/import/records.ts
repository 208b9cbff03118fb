import { Type, type Static, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'

const id = Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$' })
const text = Type.String({ maxLength: 100_000 })
const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const attributes = Type.Record(Type.String({ maxLength: 200 }), Type.Unknown())
const tagBindings = Type.Array(Type.Object({ key: text, value: text }), { maxItems: 10_000 })

/**
 * What is copied, as it stands in the files of an export: one record a line. The source is somebody else's, so a record is
 * looked at before it is used; whether its values are possible here is for this server's own rules to say.
 */
export const recordSchemas = {
  organizations: Type.Object({
    name: id,
    /** Seen with the eyes of an owner, from whom nothing is hidden. */
    isWhole: Type.Boolean(),
    defaultProjectId: orNull(id),
    attributes,
    /** How long each kind of token may live; null: hidden, or nothing that the source knows of. */
    tokenLifetimes: orNull(Type.Record(Type.String({ maxLength: 200 }), Type.Integer())),
  }),
  projects: Type.Object({ id, name: text, attributes, tagBindings }),
  teams: Type.Object({ id, name: text, attributes }),
  workspaces: Type.Object({
    id,
    name: id,
    projectId: orNull(id),
    tagNames: Type.Array(text, { maxItems: 10_000 }),
    tagBindings,
    isLocked: Type.Boolean(),
    attributes,
  }),
  members: Type.Object({
    id,
    email: orNull(text),
    username: orNull(text),
    status: Type.Union([Type.Literal('active'), Type.Literal('invited')]),
    teamIds: Type.Array(id, { maxItems: 200_000 }),
  }),
  /** What a team has on a project or workspace, which `placeId` names. */
  access: Type.Object({ placeId: id, teamId: id, attributes }),
  /** Which workspaces may read the state of the one that `placeId` names. */
  'remote-state-consumers': Type.Object({ placeId: id, consumerIds: Type.Array(id, { maxItems: 500_000 }) }),
  tokens: Type.Object({ description: text }),
  'state-versions': Type.Object({
    id,
    workspaceId: id,
    serial: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    size: orNull(Type.Integer({ minimum: 0 })),
    md5: orNull(Type.String({ pattern: '^[0-9a-fA-F]{32}$' })),
    /** Not current before the workspace is unlocked. */
    isSnapshot: Type.Boolean(),
    hasJson: Type.Boolean(),
    /** Where its content is: an address, or the name of a file. */
    state: orNull(Type.String({ maxLength: 10_000 })),
    jsonState: orNull(Type.String({ maxLength: 10_000 })),
  }),
}

export type Records = { [K in keyof typeof recordSchemas]: Static<(typeof recordSchemas)[K]> }
export type OrganizationRecord = Records['organizations']
export type ProjectRecord = Records['projects']
export type TeamRecord = Records['teams']
export type WorkspaceRecord = Records['workspaces']
export type MemberRecord = Records['members']
export type AccessRecord = Records['access']
export type ConsumersRecord = Records['remote-state-consumers']
export type TokenRecord = Records['tokens']
export type StateRecord = Records['state-versions']

/** Which states are copied. */
export type StateChoice = 'all' | 'current' | 'none'

const validators = new Map<string, Validator>()

/** One thing that the source does not show, or answers with an error: the rest can still be copied. */
export class Unreadable extends Error {}

/** Throws Unreadable for what is no such record. */
export function checkedRecord<K extends keyof Records>(kind: K, value: unknown): Records[K] {
  let validator = validators.get(kind)
  if (validator === undefined) validators.set(kind, (validator = Compile(recordSchemas[kind])))
  if (validator.Check(value)) return value as Records[K]
  const [, [problem]] = validator.Errors(value)
  throw new Unreadable(`it is not as it should be: ${problem?.instancePath} ${problem?.message}`)
}

const MAX_PRINTED = 300

/** Others' text as it may be printed: nothing in it moves a cursor or colours a terminal. */
export function printable(given: string): string {
  // oxlint-disable-next-line no-control-regex -- those are what must not reach a terminal
  const clean = given.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '?')
  return clean.length > MAX_PRINTED ? `${clean.slice(0, MAX_PRINTED)}…` : clean
}
