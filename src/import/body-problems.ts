import { routes } from '../app.ts'
import type { Config } from '../config.ts'
import type { Problem } from '../core/errors.ts'

/** Problems that a route finds in a body without looking anything up. */
export function problemsOf(method: string, path: string, body: string, config: Config): readonly Problem[] {
  const route = routes.find((one) => one.method === method && isPathOf(one.path, path))
  if (route === undefined) throw new Error(`there is no route ${method} ${path}`)
  return route.checkBody(Buffer.from(body), config)
}

function isPathOf(pattern: string, path: string): boolean {
  const [names, parts] = [pattern.split('/'), path.split('/')]
  return (
    names.length === parts.length && names.every((name, at) => name.startsWith(':') || name === parts[at])
  )
}
