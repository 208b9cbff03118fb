import { routes } from '../app.ts'
import type { Config } from '../config.ts'
import { AppError, type Problem } from '../core/errors.ts'

type Parse = (bytes: Uint8Array, address: object, deps: { config: Config }) => unknown

/** What is wrong with a body in the eyes of the route that would take it, before anything is looked up. */
export function problemsOf(method: string, path: string, body: string, config: Config): readonly Problem[] {
  const route = routes.find((one) => one.method === method && isPathOf(one.path, path))
  if (route === undefined || route.method === 'GET') throw new Error(`there is no route ${method} ${path}`)
  try {
    const parsed = (route.body as Parse | undefined)?.(Buffer.from(body), {}, { config })
    // Some routes say what is wrong with the body together with what only the database knows.
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
