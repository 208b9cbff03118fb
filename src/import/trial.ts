import { routes } from '../app.ts'
import type { Config } from '../config.ts'
import { AppError, type Problem } from '../core/errors.ts'

type Parse = (bytes: Uint8Array, address: object, deps: { config: Config }) => unknown

/** Problems that a route finds in a body without looking anything up. */
export function problemsOf(method: string, path: string, body: string, config: Config): readonly Problem[] {
  const route = routes.find((one) => one.method === method && isPathOf(one.path, path))
  if (route === undefined || route.method === 'GET') throw new Error(`there is no route ${method} ${path}`)
  try {
    const parsed = (route.body as Parse | undefined)?.(Buffer.from(body), {}, { config })
    // Some routes return these problems, to report them together with those found in the database.
    return (parsed as { problems?: readonly Problem[] } | undefined)?.problems ?? []
  } catch (error) {
    if (error instanceof AppError) return error.problems
    throw error
  }
}

function isPathOf(pattern: string, path: string): boolean {
  const [names, parts] = [pattern.split('/'), path.split('/')]
  return (
    names.length === parts.length && names.every((name, at) => name.startsWith(':') || name === parts[at])
  )
}
