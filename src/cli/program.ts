import { Command, CommanderError } from 'commander'
import { OperatorError } from '../core/operator-error.ts'
import { version } from '../core/version.ts'
import { serveCommand } from './serve-command.ts'

/** The command line. Each command loads what it needs when it runs. */
export function createProgram(): Command {
  const program = new Command('purser')
    .description('Teams and state outputs for Terraform and OpenTofu, on your own server.')
    .version(version, '-V, --version')
    .addCommand(serveCommand(), { isDefault: true })
  for (const command of [program, ...program.commands]) {
    // What is wrong with the arguments is said like everything else that is wrong: below, and in one line.
    command.exitOverride().configureOutput({ outputError: () => {} })
  }
  return program
}

/** Runs a command; says what is wrong in one line for each problem, and ends with 1. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync([...argv])
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return
      fail(`${error.message.replace(/^error: /, '')} (--help says what there is)`)
    } else if (error instanceof OperatorError) {
      fail(error.message)
    } else {
      throw error
    }
  }
}

function fail(message: string): never {
  for (const line of message.split('\n')) console.error(`purser: ${line}`)
  process.exit(1)
}
