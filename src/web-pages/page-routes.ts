import { AppError, notFound } from '../core/errors.ts'
import type { Answer, Call } from '../http/call.ts'
import type { RawRoute } from '../http/raw-route.ts'
import { readPages, type PageFile, type Pages } from './pages.ts'

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const A_YEAR = 'public, max-age=31536000, immutable'
const open = 'it is the same for everybody, and says nothing of what is stored'

const THEME = /(?:^|;)\s*purser-theme=([a-z]+)\s*(?:;|$)/

/** The shell in the theme that the reader chose. */
function shellFor({ shell, themed }: Pages, { headers }: Call): PageFile {
  const [, theme = ''] = THEME.exec(headers.cookie ?? '') ?? []
  return themed.get(theme) ?? shell
}

function answerOf(file: PageFile, { headers }: Call, cache: string): Answer {
  const isGzipped = /\bgzip\b/.test(headers['accept-encoding']?.toString() ?? '')
  return {
    status: 200,
    body: isGzipped ? file.gzipped : file.bytes,
    headers: {
      'content-type': file.type,
      'cache-control': cache,
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'referrer-policy': 'no-referrer',
      vary: 'accept-encoding, cookie',
      ...(isGzipped ? { 'content-encoding': 'gzip' } : {}),
      etag: file.etag,
    },
  }
}

/** The pages for people. Each address below /app is the same document, whose script shows the page. */
export function createPageRoutes(): readonly RawRoute[] {
  let pages: Pages | undefined
  /** Read at the first request. Throws 503 while they are not built or cannot be read. */
  const built = (): Pages => {
    try {
      pages ??= readPages()
    } catch (cause) {
      throw new AppError('unavailable', [{ detail: 'the files of the pages cannot be read' }], { cause })
    }
    if (pages === undefined) {
      const detail = 'the pages are being built; if this stays, npm run build:web says why'
      throw new AppError('unavailable', [{ detail }])
    }
    return pages
  }
  const shell = {
    method: 'GET',
    summary: 'The pages',
    open,
    answer: async (call: Call) => answerOf(shellFor(built(), call), call, 'no-cache'),
  } as const
  return [
    { ...shell, path: '/app' },
    { ...shell, path: '/app/*' },
    {
      method: 'GET',
      path: '/app/~/assets/:name',
      summary: 'A script, style or font of the pages',
      open,
      answer: async (call) => {
        const file = built().assets.get(call.params.name ?? '')
        if (file === undefined) throw notFound()
        return answerOf(file, call, A_YEAR)
      },
    },
  ]
}
