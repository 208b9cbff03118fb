import { AppError } from '../core/errors.ts'
import { loginService } from '../login/login-codes.ts'
import { json } from './call.ts'
import type { RawRoute } from './raw-route.ts'

/** Newer clients check this version instead of the release. The version of an old release is not known. */
const PLATFORM_VERSION = '2.0.1'

/** The first request of go-tfe: it reads the headers and enables features by version. */
const ping: RawRoute = {
  method: 'GET',
  path: '/api/v2/ping',
  summary: 'Ping',
  statuses: [204],
  open: 'clients ask it before they say who they are',
  answer: async (_, { config }) => ({
    status: 204,
    headers: {
      'tfp-api-version': '2.6',
      'tfp-appname': 'Purser',
      'x-tfe-version': `v${config.release ?? '202408-1'}`,
      ...(config.edition === 'hosted' ? { 'x-tfe-current-version': PLATFORM_VERSION } : {}),
      'cache-control': 'no-store',
    },
  }),
}

/** Service discovery of the Terraform and OpenTofu CLIs. */
const discovery: RawRoute = {
  method: 'GET',
  path: '/.well-known/terraform.json',
  summary: 'Service discovery',
  open: 'the CLIs ask it before they have a token',
  answer: async () =>
    json({
      'state.v2': '/api/v2/',
      'tfe.v2': '/api/v2/',
      'tfe.v2.1': '/api/v2/',
      'tfe.v2.2': '/api/v2/',
      'login.v1': loginService,
    }),
}

const health: RawRoute = {
  method: 'GET',
  path: '/healthz',
  summary: 'The process is alive',
  open: 'for supervisors',
  answer: async () => json({ status: 'ok' }),
}

const readiness: RawRoute = {
  method: 'GET',
  path: '/readyz',
  summary: 'The server takes requests: it is not stopping, and the database can be read and written',
  open: 'for load balancers',
  answer: async (_, { database, drain }) => {
    if (drain.isDraining) {
      drain.isKnown = true
      throw new AppError('unavailable', 'the server is stopping')
    }
    await database.availability.check()
    return json({ status: 'ok' })
  },
}

export const serviceRoutes: readonly RawRoute[] = [ping, discovery, health, readiness]
