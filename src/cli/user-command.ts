import { Command } from 'commander'
import { OperatorError } from '../core/operator-error.ts'
import { configOf, databaseSettings, withSettings } from './options.ts'
import { note, print, printJson } from './output.ts'

export function userCommand(): Command {
  return new Command('user')
    .description('Make users, and tokens for them')
    .addCommand(createCommand())
    .addCommand(tokenCommand())
}

function createCommand(): Command {
  return withSettings(new Command('create'), databaseSettings)
    .description('Make a user, or give somebody who was invited an account')
    .argument('<username>', 'letters, numbers, - and _')
    .requiredOption('--email <email>', 'email address; an invitation to it is then theirs')
    .option('--admin', 'a site administrator, who may do everything')
    .option('--token', 'also make a token, and print it')
    .option('--json', 'print id, names and token as JSON')
    .addHelpText('after', '\nExample:\n  purser user create jane --email jane@example.com --token')
    .action(async (username: string, flags) => {
      const made = await createUser(username, flags)
      if (flags.json) {
        printJson(made)
      } else {
        note(`made the user ${username} (${made.id})`)
        if (made.token !== undefined) print(made.token)
      }
    })
}

async function createUser(username: string, flags: Record<string, unknown> & { email?: string }) {
  const { createAccount } = await import('../users/accounts.ts')
  const { newUserBody } = await import('../users/users.ts')
  const { parseResource } = await import('../jsonapi/body.ts')
  const { auditOperator, operatorDeps, withDatabase } = await import('./database.ts')
  const { bodyOf } = await import('./parse.ts')
  const isAdmin = flags.admin === true
  const given = { username, email: flags.email, 'is-admin': isAdmin }
  const { attributes } = parseResource(bodyOf('users', given), newUserBody)
  const email = attributes.email as string
  const config = configOf(flags)
  return withDatabase(config, ({ database }) =>
    database.write(async (tx) => {
      const { id, event } = await createAccount(tx, operatorDeps, {
        username,
        email,
        passwordHash: null,
        isAdmin,
      })
      await auditOperator(tx, [event])
      const token = flags.token === true ? await makeToken(tx, config, id, {}) : undefined
      return { id, username, email, 'is-admin': isAdmin, ...(token === undefined ? {} : { token: token.text }) }
    }),
  )
}

function tokenCommand(): Command {
  return withSettings(new Command('token'), databaseSettings)
    .description('Make a token for a user, and print it: nothing can show it again')
    .argument('<username>', 'user name, without regard to case')
    .option('--description <text>', 'what it is for')
    .option('--expires <when>', 'a time, or a span from now such as 90d (default: two years)')
    .option('--json', 'print id, token and expiry as JSON')
    .addHelpText('after', '\nExample:\n  export TOKEN=$(purser user token jane --description laptop --expires 90d)')
    .action(async (username: string, flags) => {
      const made = await createTokenFor(username, flags)
      if (flags.json) {
        printJson({ id: made.id, token: made.text, 'expired-at': made.expiresAt })
      } else {
        print(made.text)
        note(`expires ${made.expiresAt}`)
      }
    })
}

type TokenFlags = { description?: string; expires?: string }

async function createTokenFor(username: string, flags: Record<string, unknown> & TokenFlags) {
  const { findUserByUsername } = await import('../users/user-store.ts')
  const { keyOf } = await import('../users/users.ts')
  const { withDatabase } = await import('./database.ts')
  const config = configOf(flags)
  return withDatabase(config, ({ database }) =>
    database.write(async (tx) => {
      const user = await findUserByUsername(tx, keyOf(username))
      if (user === undefined) throw new OperatorError(`there is no user ${username}`)
      return makeToken(tx, config, user.id, flags)
    }),
  )
}

async function makeToken(
  tx: import('../database/database.ts').Transaction,
  config: import('../config.ts').Config,
  userId: string,
  { description, expires }: TokenFlags,
): Promise<{ id: string; text: string; expiresAt: string }> {
  const { issueUserToken, parseTokenRequest } = await import('../authentication-tokens/tokens.ts')
  const { auditOperator, operatorDeps } = await import('./database.ts')
  const { bodyOf, parseMoment } = await import('./parse.ts')
  const attributes = {
    description: description ?? null,
    'expired-at': expires === undefined ? null : parseMoment(expires, operatorDeps.clock, 'future'),
  }
  const request = parseTokenRequest(bodyOf('authentication-tokens', attributes), operatorDeps)
  const { token, text, event } = await issueUserToken(tx, { ...operatorDeps, config }, userId, request)
  await auditOperator(tx, [event])
  return { id: token.id, text, expiresAt: token.expires_at }
}
