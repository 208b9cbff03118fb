import { version } from '../core/version.ts'
import type { RawRoute } from '../http/raw-route.ts'
import type { Route } from '../http/route.ts'
import { openApiDocument } from './openapi.ts'

/** GET /api/v2/openapi.json: describes the interface, generated from the routes. */
export function openApiRoute(routes: readonly Route[], rawRoutes: readonly RawRoute[]): RawRoute {
  let text: string | undefined
  const route: RawRoute = {
    method: 'GET',
    path: '/api/v2/openapi.json',
    summary: 'This document',
    open: 'it says nothing of what is stored',
    answer: async () => {
      text ??= JSON.stringify(openApiDocument(routes, [...rawRoutes, route], version))
      return {
        status: 200,
        body: text,
        headers: { 'content-type': 'application/json', 'cache-control': 'no-cache' },
      }
    },
  }
  return route
}
