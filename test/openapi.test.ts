import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../src/app.ts'
import { descriptions } from '../src/openapi/descriptions.ts'
import { Conformity } from './support/conformity.ts'
import { startServer, type TestServer } from './support/server.ts'
import {
  absentAttributes,
  attributeDifferences,
  relationshipDifferences,
  type PlatformFields,
} from './support/platform-fields.ts'

const platform = JSON.parse(
  readFileSync(new URL('data/platform-fields.json', import.meta.url), 'utf8'),
) as Record<string, PlatformFields>

/** Fields that differ from the platform's own description, and why. */
const onPurpose: Record<string, string> = {
  'access-changes': 'our own',
  'access-grants': 'our own: grants with the names of teams and places',
  'access-holders': 'our own: who has access to a place, with names',
  'effective-access': 'our own',
  'organizations.delegated-team-management': 'our own: whether teams may manage teams',
  'organizations.enforce-hyok': 'go-tfe decodes it',
  'organizations.max-ttl-enabled': 'go-tfe decodes it',
  'organizations.trial-expires-at': 'go-tfe decodes it',
  'organizations.user-tokens-enabled': 'go-tfe decodes it',
  'organizations.permissions.can-create-workspace-migration': 'go-tfe decodes it',
  'organizations.permissions.can-manage-auditing': 'go-tfe decodes it',
  'organizations.permissions.can-read-audit-events': 'our own: for pages',
  'organizations.permissions.can-read-effective-access': 'our own: for pages',
  'organizations.permissions.can-read-refusals': 'our own: for pages',
  'organizations.permissions.can-view-hyok-feature-info': 'go-tfe decodes it',
  'output-changes': 'our own: what differs between two versions, without sensitive values',
  'output-previews': 'our own: outputs for pages, without sensitive values',
  'organization-usages': 'our own: how much each organization takes',
  'output-versions': 'our own: state versions for those who may read outputs and not states',
  'login-codes': 'our own: with it a CLI gets a token',
  'password-links': 'our own: a user sets a password with it',
  refusals: 'our own: why callers were answered 404',
  sessions: 'our own: the platform has no such type',
  'users.is-suspended': 'our own: what the administration of users shows',
  'users.permissions.can-create-organizations': 'the name that go-tfe decodes',
  'users.permissions.can-view2fa-settings': 'the name that go-tfe decodes',
  'users.permissions.can-manage-hcp-account': 'the name that go-tfe decodes',
  'teams.organization-access.read-audit': 'our own: auditors',
  'teams.relationships.authentication-token': 'the specification (2.1) has a meta object in it',
  'workspaces.can-queue-destroy-plan': 'go-tfe decodes it',
  'workspaces.migration-environment': 'go-tfe decodes it',
  'workspaces.permissions.can-manage-hyok': 'go-tfe decodes it',
  'state-versions.outputs-unreadable-reason':
    'our own: an empty list would look like a state without outputs',
  'state-version-outputs.value': 'the specification (2.3) has it; the description leaves it out',
  'state-version-outputs.detailed_type': 'the second spelling that the list has in the specification (2.3)',
  'workspace-outputs.detailed-type': 'as state-version-outputs have it; go-tfe ignores it',
  'entitlement-sets.configuration-designer': 'in the documentation; go-tfe ignores it',
  'entitlement-sets.module-tests-generation': 'in the documentation; go-tfe ignores it',
  'entitlement-sets.policy-enforcement': 'in the documentation; go-tfe ignores it',
  'entitlement-sets.self-serve-billing': 'in the documentation; go-tfe ignores it',
  'entitlement-sets.usage-reporting': 'in the documentation; go-tfe ignores it',
  'audit-events': 'our own: the platform has no such type',
  'workspaces.relationships.effective-tag-bindings': 'go-tfe decodes it',
  'projects.relationships.effective-tag-bindings': 'go-tfe decodes it',
  'tags.instance-count': 'go-tfe decodes it',
  'tags.relationships.organization': 'go-tfe decodes it',
  'organization-memberships.email: null':
    'a service account has none, and whoever may not read the membership is not told',
}

/** Attributes of the platform that no document here has, and why. */
const leftOut: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^state-versions\.(state|json-state|json-state-outputs|lineage|md5|force)$/, 'is sent, never shown'],
  [/^users\.password$/, 'is sent, never shown'],
  [
    /^organization-token-ttl-policies\.(created|updated)-at$/,
    'every organization has them; the audit trail says when they changed',
  ],
  [/^state-versions\.permissions$/, 'the specification (2.3) has none'],
  [/^teams\.(description|is-unified|non-service-users-count)$/, 'the specification (2.1) has none'],
  [/^teams\.organization-access\.manage-(public|registry)-/, 'there is no registry'],
  [/^teams\.scim-|^organizations\.permissions\.can-view-authentication/, 'there is neither SCIM nor SSO'],
  [/^organization-memberships\.is-org-two-factor-required/, 'there is no second factor'],
  [
    /hcp|is-unified|enterprise-support|plan-identifier|can-manage-subscription/,
    'nothing is linked or sold here',
  ],
  [/module|provider|stacks|assessments|polic|test-generation/, 'there is nothing of the kind here'],
  [/recoverable|data-retention|retention-desc/, 'what is deleted is gone; old versions go by a setting'],
  [/^organizations\.permissions\.can-view-(explorer|usage)/, 'there are no such pages'],
  [
    /^users\.(auth-method|is-confirmed|is-sudo|has-git-hub-app-token)/,
    'accounts have tokens, and nothing else',
  ],
  [/^users\.permissions\.can-/, 'there are no such pages'],
  [/^workspaces\.vcs-repo\./, 'always null: there is no version control'],
]

describe('the OpenAPI document', () => {
  const conformity = new Conformity()
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('sqlite')
  })
  afterAll(() => server.stop())

  test('is served without a token, and is that of the routes', async () => {
    const answer = await server.client().get('/openapi.json')
    expect(answer.status).toBe(200)
    expect(answer.json.openapi).toBe('3.1.0')
    expect(answer.json.paths).toEqual(JSON.parse(JSON.stringify(conformity.document.paths)))
    expect(conformity.operations.length).toBeGreaterThan(routes.length)
  })

  test('names every operation once, and every reference leads somewhere', () => {
    const ids = conformity.operations.map(
      (operation) => (operation as unknown as { operationId: string }).operationId,
    )
    expect(new Set(ids).size).toBe(ids.length)
    const text = JSON.stringify(conformity.document)
    const names = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1])
    expect(Object.keys(conformity.document.components.schemas)).toEqual(
      expect.arrayContaining([...new Set(names)]),
    )
  })

  test('describes the type of every answer', () => {
    const known = descriptions.map(({ type }) => type)
    const missing = routes
      .filter(({ answers }) => answers !== undefined && !known.includes(answers))
      .map(
        (route) =>
          `${route.method} ${route.path}: write a description of ${route.answers} beside its document`,
      )
    expect(missing).toEqual([])
  })

  test("uses the platform's names and JSON types, but for what differs on purpose", () => {
    const differences = descriptions.flatMap((description) => {
      const fields = platform[description.type]
      return fields === undefined
        ? [description.type]
        : [...attributeDifferences(description, fields), ...relationshipDifferences(description, fields)]
    })
    expect(differences.toSorted()).toEqual(Object.keys(onPurpose).toSorted())
  })

  test("has each of the platform's attributes, but for those left out for a reason", () => {
    const absent = descriptions.flatMap((description) => {
      const fields = platform[description.type]
      return fields === undefined ? [] : absentAttributes(description, fields)
    })
    const reasonOf = (name: string) => leftOut.find(([pattern]) => pattern.test(name))
    expect(absent.filter((name) => reasonOf(name) === undefined)).toEqual([])
    const unused = leftOut.filter((entry) => !absent.some((name) => reasonOf(name) === entry))
    expect(unused.map(([pattern]) => String(pattern))).toEqual([])
  })
})
