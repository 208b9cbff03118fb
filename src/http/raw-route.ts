import type { Answer, Call } from './call.ts'
import type { RunnerDeps } from './deps.ts'
import type { RouteDocumentation } from './route.ts'

/** A route that is not JSON:API with a token: it is open to everyone, or its URL carries a right. */
export type RawRoute = RouteDocumentation & {
  method: 'GET' | 'PUT' | 'POST'
  /** The full path. */
  path: string
  /** Statuses of successful answers; default: 200. */
  statuses?: readonly number[]
  /** Why it needs no token. */
  open: string
  answer: (call: Call, deps: RunnerDeps) => Promise<Answer>
}
