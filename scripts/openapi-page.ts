import { routes, rawRoutes } from '../src/app.ts'
import { openApiDocument } from '../src/openapi/openapi.ts'

/** docs/openapi.json: the interface of this checkout. The version is left out, because it changes with each release. */
export function openApiPage(): string {
  const document = openApiDocument(routes, rawRoutes, 'main')
  return `${JSON.stringify(document, null, 2)}\n`
}
