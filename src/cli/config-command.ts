import { Command, InvalidArgumentError } from 'commander'
import { OperatorError } from '../core/operator-error.ts'
import { isLoopback } from '../core/loopback.ts'
import { servedAddress } from '../operation/address.ts'
import { commandName } from '../core/version.ts'
import type { Config } from '../config.ts'
import { configOf, withSettings } from './options.ts'
import { print } from './output.ts'

const SERVICES = ['state.v2', 'tfe.v2', 'tfe.v2.1', 'tfe.v2.2']

export function configCommand(): Command {
  return new Command('config').description('Print configuration for other programs').addCommand(tofuCommand())
}

function tofuCommand(): Command {
  const command = new Command('tofu')
    .description('Print the configuration of OpenTofu and Terraform for this server, also for plain http')
    .option('--hostname <name>', 'host name of this server in configurations (default: from its address)')
    .option('--organization <name>', 'organization in the example', organizationName, 'acme')
    .addHelpText(
      'after',
      '\nExamples:\n  purser config tofu >> ~/.tofurc\n  purser config tofu --public-url https://purser.example.com',
    )
    .action((flags) => print(tofuConfiguration(configOf(flags), flags.organization, flags.hostname)))
  return withSettings(command, ['listen', 'publicUrl', 'tlsCert', 'tlsKey'])
}

/** Quotes and `${` would mean something else in the file. */
function organizationName(text: string): string {
  if (!/^[\w-]+$/.test(text)) throw new InvalidArgumentError('It must be letters, numbers, - and _.')
  return text
}

/** The block for the CLI's configuration file. Comments in it say what belongs elsewhere. */
function tofuConfiguration(config: Config, organization: string, hostname = hostnameOf(config)): string {
  if (!/^(\[[\da-f:.]+\]|[\p{L}\p{N}._-]+)(:\d+)?$/iu.test(hostname)) {
    throw new OperatorError(`${JSON.stringify(hostname)} is no host name: give --hostname HOST or HOST:PORT`)
  }
  const api = `${servedAddress(config)}/api/v2/`
  const place = hostname.includes(':') ? 'here' : `here or in ${tokenVariable(hostname)}`
  const services = SERVICES.map((service) => `    ${JSON.stringify(service).padEnd(10)} = "${api}"`)
  return `# For ~/.tofurc (OpenTofu) or ~/.terraformrc (Terraform), or the file that TF_CLI_CONFIG_FILE names.
host "${hostname}" {
  services = {
${services.join('\n')}
  }
}

# A token of yours (${commandName} user token NAME), ${place}:
# credentials "${hostname}" {
#   token = "purser_user_..."
# }

# In a configuration:
# terraform {
#   cloud {
#     hostname     = "${hostname}"
#     organization = "${organization}"
#     workspaces { name = "my-workspace" }
#   }
# }`
}

/** The CLIs look the host up in their own configuration first, so any name works. */
function hostnameOf(config: Config): string {
  const url = new URL(servedAddress(config))
  if (isLoopback(url.hostname)) url.hostname = 'localhost'
  return url.host
}

/** The CLIs replace dots by underscores and hyphens by two underscores. */
function tokenVariable(hostname: string): string {
  return `TF_TOKEN_${hostname.replaceAll('-', '__').replaceAll('.', '_')}`
}
