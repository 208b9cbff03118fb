import { AppError } from '../core/errors.ts'
import type { Target } from './decide.ts'
import type { Permission } from './rules.ts'

/** The 404 for a missing or hidden object, when an act or a document checks a permission beyond the route's own. */
export class NotPermitted extends AppError {
  readonly permission: Permission
  readonly target: Target

  constructor(permission: Permission, target: Target) {
    super('not-found')
    this.permission = permission
    this.target = target
  }
}
