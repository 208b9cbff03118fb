import type { Answer, Call } from './call.ts'
import type { Deps } from './deps.ts'
import type { RouteDocumentation } from './route.ts'

/** A route outside the JSON:API interface's own way: open to all, or with a right that its URL carries. */
export type RawRoute = RouteDocumentation & {
  method: 'GET' | 'PUT'
  /** The whole path. */
  path: string
  /** What it answers when all is well; 200 unless said. */
  statuses?: readonly number[]
  /** Why no token is asked for. */
  open: string
  answer: (call: Call, deps: Deps) => Promise<Answer>
}
