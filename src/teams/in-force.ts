import { flagSet, knownFlags } from '../access/organization-flags.ts'
import type { InForce } from '../access/standing.ts'
import type { Config } from '../config.ts'
import { hasMemberTokenManagement } from './team-fields.ts'

export function inForceOf(config: Config): InForce {
  return {
    flags: flagSet(...knownFlags(config.dialect)),
    memberTokenManagement: hasMemberTokenManagement(config),
  }
}
