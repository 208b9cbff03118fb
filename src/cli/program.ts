import { Command, CommanderError } from 'commander'
import { AppError } from '../core/errors.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'
import { forTerminal } from '../core/terminal.ts'
import { version } from '../core/version.ts'
import { accessCommand } from './access-command.ts'
import { auditCommand } from './audit-command.ts'
import { backupCommand, restoreCommand } from './backup-command.ts'
import { configCommand } from './config-command.ts'
import { doctorCommand } from './doctor-command.ts'
import { explainCommand } from './explain-command.ts'
import { exportCommand, importCommand } from './import-command.ts'
import { migrateCommand } from './migrate-command.ts'
import { moveCommand } from './move-command.ts'
import { organizationCommand } from './organization-command.ts'
import { tokenCommand } from './resource-commands.ts'
import { seedCommand } from './seed-command.ts'
import { serveCommand } from './serve-command.ts'
import { teamCommand } from './team-command.ts'
import { userCommand } from './user-command.ts'
import { workspaceCommand } from './workspace-command.ts'

const EXAMPLES = `
Examples:
  purser serve --listen 0.0.0.0:4567 --tls-cert cert.pem --tls-key key.pem
  purser user create jane --email jane@example.com --token
  purser organization create acme --email ops@example.com --owner jane

Every setting is a flag and an environment variable; the flag wins. docs/settings.md lists them all.
In a clone, type "npm run purser --" instead of "purser", and "npm run --silent purser --" if a file or
another program gets the output.`

/** The command line. Each command loads its modules only when it runs. */
function createProgram(): Command {
  const program = new Command('purser')
    .description('Teams and state outputs for Terraform and OpenTofu, on your own server.')
    .version(version, '-V, --version')
    .addHelpText('after', EXAMPLES)
    // `audit` and `audit verify` have the same options.
    .enablePositionalOptions()
    .addCommand(serveCommand())
    .addCommand(migrateCommand())
    .addCommand(userCommand())
    .addCommand(organizationCommand())
    .addCommand(teamCommand())
    .addCommand(workspaceCommand())
    .addCommand(tokenCommand())
    .addCommand(seedCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(moveCommand())
    .addCommand(accessCommand())
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(auditCommand())
    .addCommand(explainCommand())
    .addCommand(doctorCommand())
    .addCommand(configCommand())
  leaveProblemsToUs(program)
  return program
}

/** Makes commander throw argument errors, so that runCommandLine reports them in one line like all others. */
function leaveProblemsToUs(command: Command): void {
  command
    .exitOverride((error) => {
      throw unknownOptionOf(command, error) ?? error
    })
    .configureOutput({ outputError: () => {} })
  for (const child of command.commands) leaveProblemsToUs(child)
}

/** commander looks for a missing option first. The reason may be an option that was misspelled. */
function unknownOptionOf({ args }: Command, { code }: CommanderError): CommanderError | undefined {
  if (code !== 'commander.missingMandatoryOptionValue') return undefined
  const unknown = args.find((word) => /^-./.test(word))?.split('=')[0]
  return unknown === undefined
    ? undefined
    : new CommanderError(1, 'commander.unknownOption', `error: unknown option '${unknown}'`)
}

/**
 * Turns `help user create` and `user help create` into `user create --help`. Refuses a word that is no command, and names
 * the commands there are: commander ignores such a word after `help`.
 */
function knownWords(program: Command, words: readonly string[]): string[] {
  const known: string[] = []
  const help: string[] = []
  let command = program
  for (const word of words) {
    if (command.commands.length === 0 || word.startsWith('-')) break
    if (word === 'help') {
      help.push('--help')
      continue
    }
    const next = command.commands.find((one) => one.name() === word)
    if (next === undefined) {
      const names = command.commands.map((one) => one.name())
      fail(
        `there is no command ${[...known, word].join(' ')}; choose from ${names.join(', ')} (--help says more)`,
      )
    }
    known.push(word)
    command = next
  }
  return [...known, ...words.slice(known.length + help.length), ...help]
}

/** Runs a command. On errors it prints one line per problem and exits with 1. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', (error) => endWithoutOutput(error, argv[2]))
  // Notes and progress are for people. Work that has begun goes on if nobody reads them any more.
  process.stderr.on('error', () => {})
  try {
    const program = createProgram()
    if (argv.length === 2) program.help({ error: true })
    await program.parseAsync(knownWords(program, argv.slice(2)), { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help was printed, either on request or because a subcommand is missing.
      if (error.code === 'commander.help' || error.exitCode === 0) {
        // Not at once: it may turn out that the output could not be written.
        process.exitCode = error.exitCode
        return
      }
      fail(`${error.message.replace(/^error: /, '').replaceAll('\n', ' ')} (see --help)`)
    } else if (error instanceof OperatorError || error instanceof AppError) {
      fail(error instanceof AppError ? linesOf(error) : error.message)
    } else {
      throw error
    }
  }
}

/**
 * The reader of a pipe has closed it, e.g. `purser audit | head`. That is no error, but the command may have found one. A
 * server that cannot say what its operator must know does not start.
 */
function endWithoutOutput(error: NodeJS.ErrnoException, command: string | undefined): void {
  if (error.code === 'EPIPE' && command !== 'serve') process.exit(process.exitCode ?? 0)
  fail(`cannot write the output: ${reasonOf(error)}`)
}

function linesOf(error: AppError): string {
  return error.problems.map((problem) => problem.detail).join('\n') || error.code
}

function fail(message: string): never {
  for (const line of message.split('\n')) console.error(`purser: ${forTerminal(line)}`)
  process.exit(1)
}
