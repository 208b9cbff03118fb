import { Type, type Static, type TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/schema'
import { keysOf } from '../core/keys.ts'
import { MAX_BODY_DEPTH } from '../jsonapi/json.ts'
import { OperatorError } from '../core/operator-error.ts'

const id = Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}$' })
const text = Type.String({ maxLength: 100_000 })
const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const attributes = Type.Record(Type.String({ maxLength: 200 }), Type.Unknown())
const tagBindings = Type.Array(Type.Object({ key: text, value: text }), { maxItems: 10_000 })
/** Access of a team to a project or workspace, its place. */
const access = Type.Object({ placeId: id, teamId: id, attributes })

/**
 * The copied data, in the format of an export: a file for each kind, with one record a line. The source is not trusted, so
 * each record is validated before use. This server's own rules then check the values.
 */
const recordSchemas = {
  organizations: Type.Object({
    name: id,
    /** True if the caller is an owner there: nothing is hidden from owners. */
    isWhole: Type.Boolean(),
    defaultProjectId: orNull(id),
    attributes,
    /** Maximum lifetimes by kind of token. Null: hidden from the caller or unknown to the source. */
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
  /** The access of a team to the project or workspace `placeId`. */
  'team-projects': access,
  'team-workspaces': access,
  /** The workspaces that may read the state of the workspace `placeId`. */
  'remote-state-consumers': Type.Object({ placeId: id, consumerIds: Type.Array(id, { maxItems: 500_000 }) }),
  tokens: Type.Object({ description: text }),
  'state-versions': Type.Object({
    id,
    workspaceId: id,
    serial: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    size: orNull(Type.Integer({ minimum: 0 })),
    md5: orNull(Type.String({ pattern: '^[0-9a-fA-F]{32}$' })),
    /** True for a state that is not current before the workspace is unlocked. */
    isSnapshot: Type.Boolean(),
    hasJson: Type.Boolean(),
    /** Where the content is: an address or a file name. */
    state: orNull(Type.String({ maxLength: 10_000 })),
    jsonState: orNull(Type.String({ maxLength: 10_000 })),
  }),
}

export const recordKinds = keysOf(recordSchemas)
export type RecordKind = keyof typeof recordSchemas
export type Records = { [K in RecordKind]: Static<(typeof recordSchemas)[K]> }
export type OrganizationRecord = Records['organizations']
export type ProjectRecord = Records['projects']
export type TeamRecord = Records['teams']
export type WorkspaceRecord = Records['workspaces']
export type MemberRecord = Records['members']
export type AccessRecord = Static<typeof access>
export type ConsumersRecord = Records['remote-state-consumers']
export type TokenRecord = Records['tokens']
export type StateRecord = Records['state-versions']

/** Which states are copied. */
export type StateChoice = 'all' | 'current' | 'none'

const validators = new Map<string, Validator>()

/** A single object that is hidden or fails to load. Everything else can still be copied. */
export class Unreadable extends OperatorError {}

function isDeeperThan(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return depth === 0 || Object.values(value).some((one) => isDeeperThan(depth - 1, one))
}

/** Throws Unreadable if the value is not a valid record. */
export function checkedRecord<K extends RecordKind>(kind: K, value: unknown): Records[K] {
  // The body that copies it could not be deeper either. JSON.stringify fails at some thousands.
  if (isDeeperThan(MAX_BODY_DEPTH, value)) {
    throw new Unreadable(`its form is wrong: it is nested deeper than ${MAX_BODY_DEPTH}`)
  }
  let validator = validators.get(kind)
  if (validator === undefined) validators.set(kind, (validator = Compile(recordSchemas[kind])))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has passed the schema of its kind
  if (validator.Check(value)) return value as Records[K]
  const [, [problem]] = validator.Errors(value)
  throw new Unreadable(`its form is wrong: ${problem?.instancePath} ${problem?.message}`)
}

const MAX_PRINTED = 300

/** Makes foreign text safe to print: no control characters for the terminal. */
export function printable(given: string): string {
  // oxlint-disable-next-line no-control-regex -- those are what must not reach a terminal
  const clean = given.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '?')
  return clean.length > MAX_PRINTED ? `${clean.slice(0, MAX_PRINTED)}…` : clean
}
