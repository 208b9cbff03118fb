import { AppError } from '../core/errors.ts'
import type { Target } from './decide.ts'
import type { Permission } from './rules.ts'

/** The 404 of everything that is missing or hidden, by a rule that an act or a document asks beside the route's own. */
export class NotPermitted extends AppError {
  readonly permission: Permission
  readonly target: Target

  constructor(permission: Permission, target: Target) {
    super('not-found')
    this.permission = permission
    this.target = target
  }
}
