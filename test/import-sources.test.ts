import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Progress } from '../src/import/progress.ts'
import { OperatorError } from '../src/core/operator-error.ts'
import { Unreadable } from '../src/import/records.ts'
import { SourceClient } from '../src/import/source-client.ts'
import { Spool } from '../src/import/spool.ts'
import { readList } from '../src/import/source-lists.ts'
import { differenceOf } from './support/difference.ts'
import { sourceOf } from './support/import-sources.ts'
import { importInto } from './support/import-world.ts'
import { temporaryFolder } from './support/purser.ts'
import { startServer, type TestServer } from './support/server.ts'
import { md5Of, stateText } from './support/states.ts'
import { uniqueName } from './support/world.ts'

const TOKEN = 'the-token-of-the-source'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Starts a server with any behavior. Returns its address. */
async function serve(handler: Handler): Promise<string> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const waits: number[] = []

function clientOf(from: string, more: object = {}): SourceClient {
  waits.length = 0
  return new SourceClient({
    from,
    token: TOKEN,
    isInsecureAllowed: false,
    signal: new AbortController().signal,
    pause: (milliseconds) => {
      waits.push(milliseconds)
      return Promise.resolve()
    },
    ...more,
  })
}

/** Whether the descriptor belongs to a deleted file of the folder. */
function isGone(descriptor: string, folder: string): boolean {
  try {
    return readlinkSync(descriptor).startsWith(folder)
  } catch {
    return false
  }
}

async function contentOf(client: SourceClient, address: string, limit: number): Promise<string> {
  let text = ''
  const write = (chunk: Uint8Array) => void (text += Buffer.from(chunk).toString())
  await client.content(address, limit, { restart: () => void (text = ''), write })
  return text
}

const json = (response: ServerResponse, value: unknown) => response.end(JSON.stringify(value))
const resource = (type: string, id: string, attributes: object, relationships: object = {}) => ({
  type,
  id,
  attributes,
  relationships,
})

describe('a source that is not to be trusted', () => {
  test('the token goes to no other origin, wherever it is sent to', async () => {
    const seen: (string | undefined)[] = []
    const elsewhere = await serve((request, response) => {
      seen.push(request.headers.authorization)
      response.end('the content')
    })
    const address = await serve((request, response) => {
      expect(request.headers.authorization).toBe(`Bearer ${TOKEN}`)
      if (request.url === '/api/v2/state')
        response.writeHead(302, { location: `${elsewhere}/redirected` }).end()
      else if (request.url === '/api/v2/own') response.writeHead(307, { location: '/api/v2/final' }).end()
      else response.end('its own')
    })
    const client = clientOf(address)
    expect(await contentOf(client, `${elsewhere}/direct`, 100)).toBe('the content')
    expect(await contentOf(client, `${address}/api/v2/state`, 100)).toBe('the content')
    expect(await contentOf(client, `${address}/api/v2/own`, 100)).toBe('its own')
    await expect(client.document('/state')).rejects.toThrow(/not JSON/)
    expect(seen).toEqual([undefined, undefined, undefined])
  })

  test('redirects end, and lead neither to plain http elsewhere nor to files', async () => {
    const locations = ['/api/v2/a', 'file:///etc/passwd', 'http://10.0.0.1/meta', 'http://[::ffff:10.0.0.1]/']
    let location = ''
    const address = await serve((_, response) => response.writeHead(302, { location }).end())
    const problems = []
    for (location of locations) {
      problems.push(
        await clientOf(address)
          .document('/a')
          .catch((error: Error) => error.message),
      )
    }
    expect(problems).toEqual([
      'it is redirected too often',
      'it is redirected to something that is not a URL',
      'it is at http://10.0.0.1, which is not https',
      'it is at http://[::ffff:a00:1], which is not https',
    ])
  })

  test('an address of content that no server answers ends one thing alone', async () => {
    const address = await serve((_, response) => json(response, {}))
    for (const given of ['file:///etc/passwd', `blob:${address}/x`, 'data:,x', 'http://']) {
      const error = await contentOf(clientOf(address), given, 100).catch((caught: unknown) => caught)
      expect(error).toEqual(new Unreadable('its address is not a URL'))
    }
  })

  test('a password in an address that it gives is never printed, and ends one thing alone', async () => {
    const secret = 'hunter2'
    const address = await serve((request, response) => {
      const { port } = new URL(`http://${request.headers.host}`)
      if (request.url === '/api/v2/redirects')
        response.writeHead(302, { location: `http://admin:${secret}@127.0.0.1:${port}/x` }).end()
      else json(response, { data: [] })
    })
    const client = clientOf(address)
    const given = `http://admin:${secret}@${new URL(address).host}/state`
    for (const failed of [
      client.content(given, 100, { restart: () => {}, write: () => {} }),
      client.document('/redirects'),
    ]) {
      const error = await failed.catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(Unreadable)
      expect(String(error)).not.toContain(secret)
    }
    expect(await client.document('/after')).toEqual({ data: [] })
    for (const from of [`https://admin:${secret}@tfe.example.com`, `https://admin:${secret}@`]) {
      const caught = (() => {
        try {
          return clientOf(from)
        } catch (error) {
          return error
        }
      })()
      expect(caught).toBeInstanceOf(OperatorError)
      expect(String(caught)).not.toContain(secret)
    }
  })

  test('plain http is for this machine, and addresses hold no password', () => {
    expect(() => clientOf('http://example.com')).toThrow(/--insecure-http/)
    expect(() => clientOf('http://127.0.0.1.example.com')).toThrow(/--insecure-http/)
    expect(clientOf('http://example.com', { isInsecureAllowed: true }).origin).toBe('http://example.com')
    expect(() => clientOf('https://user:word@example.com')).toThrow(/password/)
    expect(() => clientOf('ftp://example.com')).toThrow(/must be an address/)
    expect(() => clientOf('https://example.com', { token: 'a\nb' })).toThrow(/token/)
  })

  test('what passes is waited for: 429 as long as it says, 500 a little longer each time', async () => {
    const answers = [
      [429, { 'retry-after': '7' }],
      [500, {}],
      [503, { 'retry-after': '999999' }],
      [200, {}],
    ] as const
    let count = 0
    const address = await serve((_, response) => {
      const [status, headers] = answers[Math.min(count, 3)] as (typeof answers)[number]
      count += 1
      response.writeHead(status, headers).end('{}')
    })
    expect(await clientOf(address).document('/x')).toEqual({})
    expect(waits).toEqual([7_000, 1_000, 300_000])
    const date = new Date(Date.now() + 20_000).toUTCString()
    let isFirst = true
    const dated = await serve((_, response) => {
      response.writeHead(isFirst ? 429 : 200, { 'retry-after': date }).end('{}')
      isFirst = false
    })
    await clientOf(dated).document('/x')
    expect(waits[0]).toBeGreaterThan(10_000)
    expect(waits[0]).toBeLessThanOrEqual(20_000)
  })

  test('Retry-After never makes the pauses shorter than usual', async () => {
    const values = ['0', '0.2', '-1', new Date(0).toUTCString(), 'soon']
    const usual = [500, 1_000, 2_000, 4_000, 8_000]
    let tries = 0
    const address = await serve((_, response) => {
      response.writeHead(429, { 'retry-after': values[tries] ?? '0' }).end()
      tries += 1
    })
    await expect(clientOf(address).document('/x')).rejects.toThrow('it was answered with 429, 6 times')
    expect(waits).toEqual(usual)
  })

  test('answers that are no HTTP, or break their encoding, end one thing alone', async () => {
    const address = await serve((request, response) => {
      if (request.url?.endsWith('/good')) response.end('{}')
      else if (request.url?.endsWith('/noise')) request.socket.end('noise\r\n\r\n')
      else if (request.url?.endsWith('/head')) response.writeHead(200, { x: 'y'.repeat(100_000) }).end()
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end('no gzip')
    })
    const client = clientOf(address)
    for (const path of ['/noise', '/head', '/packed']) {
      await expect(client.document(path)).rejects.toThrow(Unreadable)
      expect(await client.document('/good')).toEqual({})
    }
  })

  test('a document that is not UTF-8 is not read', async () => {
    const bytes = Buffer.concat([Buffer.from('{"name": "a'), Buffer.from([0xff]), Buffer.from('b"}')])
    const address = await serve((_, response) => response.end(bytes))
    await expect(clientOf(address).document('/x')).rejects.toThrow(/not JSON/)
  })

  test('what does not pass is given up: one thing when the server fails, all when there is none', async () => {
    let count = 0
    const address = await serve((_, response) => {
      count += 1
      response.writeHead(500).end()
    })
    await expect(clientOf(address).document('/x')).rejects.toThrow('it was answered with 500, 6 times')
    expect(count).toBe(6)
    await expect(clientOf('http://127.0.0.1:1').document('/x')).rejects.toThrow(/cannot be reached/)
    const refusing = await serve((_, response) => response.writeHead(401).end())
    await expect(clientOf(refusing).document('/x')).rejects.toThrow(/does not accept the token/)
  })

  test('a thing whose connection breaks every time is given up, and the others are read', async () => {
    const cut = await serve((request, response) => {
      if (request.url?.endsWith('/good')) response.end('{}')
      else if (request.url?.endsWith('/half')) {
        response.writeHead(200, { 'content-length': '10' })
        response.write('half')
        setTimeout(() => response.destroy(), 5)
      } else request.socket.destroy()
    })
    const client = clientOf(cut)
    for (const path of ['/half', '/closed']) {
      await expect(contentOf(client, `/api/v2${path}`, 100)).rejects.toThrow(Unreadable)
      expect(waits.splice(0)).toHaveLength(5)
    }
    expect(await client.document('/good')).toEqual({})
    await expect(client.document('/a')).rejects.toThrow(Unreadable)
    await expect(client.document('/b')).rejects.toThrow(Unreadable)
    await expect(client.document('/c')).rejects.toThrow(OperatorError)
    // One bad address from the source does not mean that the source is down.
    await expect(contentOf(client, 'http://127.0.0.1:1/state', 100)).rejects.toThrow(Unreadable)
  })

  test('a state on its way is in no file that has a name, and nowhere in clear', async () => {
    const folder = temporaryFolder()
    vi.stubEnv('TMPDIR', folder)
    onTestFinished(() => void vi.unstubAllEnvs())
    const block = Buffer.alloc(1024 * 1024, 'a state in clear ')
    const address = await serve((_, response) => {
      for (let sent = 0; sent < 5; sent += 1) response.write(block)
      response.end('its end')
    })
    using spool = new Spool()
    await clientOf(address).content('/state', 100 * block.length, spool)
    expect(readdirSync(folder)).toEqual([])
    const whole = Buffer.concat([block, block, block, block, block, Buffer.from('its end')])
    expect(differenceOf(Buffer.concat([...spool.chunks()]), whole)).toBeUndefined()
    expect([spool.size, spool.md5]).toEqual([whole.length, md5Of(whole)])
    expect(differenceOf(spool.head, whole.subarray(0, spool.head.length))).toBeUndefined()
    // Read the files like another process of this machine could.
    const files = existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd') : []
    const stored = files.map((name) => `/proc/self/fd/${name}`).filter((name) => isGone(name, folder))
    for (const name of stored) expect(readFileSync(name).includes('a state in clear')).toBe(false)
    expect(stored).toHaveLength(files.length === 0 ? 0 : 1)
  })

  test('a body has an end, whatever its head says', async () => {
    const chunk = Buffer.alloc(64 * 1024, 32)
    let sent = 0
    const address = await serve((_, response) => {
      const more = () => {
        while (!response.destroyed) {
          sent += chunk.length
          if (!response.write(chunk)) return
        }
      }
      response.on('drain', more)
      more()
    })
    await expect(contentOf(clientOf(address), '/state', 1024 * 1024)).rejects.toThrow(
      'larger than 1048576 bytes',
    )
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  test('pages have an end, whether they are the same again or always new', async () => {
    let count = 0
    const address = await serve((request, response) => {
      count += 1
      const url = new URL(request.url ?? '', 'http://x')
      const page = Number(url.searchParams.get('page[number]'))
      const id = url.pathname.endsWith('/same') ? 'one' : `id-${page}`
      const next = url.pathname.endsWith('/back') ? page : page + 1
      json(response, {
        data: [resource('teams', id, {})],
        meta: { pagination: { 'next-page': next, 'total-count': 1 } },
      })
    })
    for (const path of ['/same', '/new', '/back']) {
      await expect(readList(clientOf(address), path)).rejects.toThrow(
        `the pages of ${path} do not come to an end`,
      )
    }
    expect(count).toBeLessThan(2_000)
    const unnamed = await serve((request, response) => {
      const url = new URL(request.url ?? '', 'http://x')
      const page = Number(url.searchParams.get('page[number]'))
      const data = [resource('teams', url.pathname.endsWith('/first') ? 'one' : `id-${page}`, {})]
      json(response, { data, meta: { pagination: { 'next-page': String(page + 1), 'total-pages': 3 } } })
    })
    expect((await readList(clientOf(unnamed), '/all')).data).toHaveLength(3)
    await expect(readList(clientOf(unnamed), '/first')).rejects.toThrow('do not come to an end')
    const odd = await serve((_, response) => json(response, { data: [{ id: '../x', type: 'teams' }] }))
    await expect(readList(clientOf(odd), '/x')).rejects.toThrow('the id ../x')
  })
})

test('a list that gets shorter while it is read is read again, whole', async () => {
  const all = Array.from({ length: 250 }, (_, index) => resource('teams', `team-${index}`, {}))
  let deletions = 1
  const address = await serve((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page[number]'))
    const data = all.slice((page - 1) * 100, page * 100)
    const next = page * 100 < all.length ? page + 1 : null
    json(response, { data, meta: { pagination: { 'next-page': next, 'total-count': all.length } } })
    // Now the first object of the second page is on the first one.
    if (page === 1 && deletions-- > 0) all.shift()
  })
  const { data } = await readList(clientOf(address), '/teams')
  expect(data.map(({ id }) => id)).toEqual(all.map(({ id }) => id))
  deletions = 100
  await expect(readList(clientOf(address), '/teams')).rejects.toThrow(
    'got shorter while it was read, 5 times',
  )
})

describe('progress', () => {
  const drawn = (isTTY: boolean, columns = 40) => {
    let text = ''
    const progress = new Progress({ write: (more: string) => (text += more), isTTY, columns })
    for (const done of [1, 2, 3]) progress.show('acme: teams', done, 3)
    progress[Symbol.dispose]()
    return text
  }

  test('is a bar on a terminal, as wide as it, and a line elsewhere', () => {
    expect(drawn(false)).toBe('acme: teams: 3\n')
    const [first, ...others] = drawn(true).split('\r\u001b[2K').slice(1)
    expect(first).toBe('[########----------------] 1/3 acme: te')
    expect(others).toEqual(['[########################] 3/3 acme: te', ''])
    expect(drawn(true, 0)).toContain('3/3 acme: teams\r')
  })

  test('draws nothing on a terminal that cannot', () => {
    vi.stubEnv('TERM', 'dumb')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(drawn(true)).toBe('acme: teams: 3\n')
  })
})

describe('an import from a source that lies', () => {
  let target: TestServer
  beforeAll(async () => {
    target = await startServer('sqlite')
  })
  afterAll(() => target.stop())

  /** A source with one organization and some workspaces, each with a state. */
  const lyingSource = async (
    organization: string,
    versions: Record<string, { attributes: object; content?: string }>,
  ) => {
    const address: string = await serve((request, response) => {
      const url = new URL(request.url ?? '', 'http://x')
      const path = url.pathname.replace('/api/v2', '')
      const workspace = url.searchParams.get('filter[workspace][name]') ?? ''
      if (path.startsWith('/content/')) response.end(versions[path.slice(9)]?.content)
      else if (path === '/organizations') {
        const attributes = {
          name: organization,
          email: 'a@example.com',
          'collaborator-auth-policy': 'two_factor_mandatory',
          permissions: { 'can-destroy': true },
        }
        json(response, { data: [resource('organizations', organization, attributes)] })
      } else if (path.endsWith('/workspaces')) {
        const data = Object.keys(versions).map((name) =>
          resource('workspaces', `ws-${name}`, { name, description: 'x', 'vcs-repo': { identifier: 'a/b' } }),
        )
        data.push(resource('workspaces', 'ws-bad', { name: 'red\u001b[31m' }))
        json(response, { data })
      } else if (path === '/state-versions') {
        const found = versions[workspace]
        const attributes = {
          serial: 1,
          status: 'finalized',
          'hosted-state-download-url': `${address}/api/v2/content/${workspace}`,
          ...found?.attributes,
        }
        json(response, { data: [resource('state-versions', `sv-${workspace}`, attributes)] })
      } else json(response, { data: [] })
    })
    return sourceOf(address, TOKEN)
  }

  test('answers with no other organization than the named one', async () => {
    const name = uniqueName('asked')
    const address = await serve((_, response) => {
      const attributes = { name: 'other', email: 'a@example.com', permissions: { 'can-destroy': true } }
      json(response, { data: resource('organizations', 'other', attributes) })
    })
    const options = { organizations: [name], isMerging: true }
    const problem = `organization ${name} of ${address}: it was answered with another organization`
    await expect(importInto(target, sourceOf(address, TOKEN), options)).rejects.toThrow(problem)
    expect((await target.admin.get('/organizations/other')).status).toBe(404)
  })

  test('reports values that cannot be printed as JSON or as text, and copies the rest', async () => {
    const name = uniqueName('odd')
    const untextual = { toString: 1, valueOf: 1 }
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const bindings = { 'effective-tag-bindings': { data: ['a', 'b'].map((id) => ({ type: 'x', id })) } }
    const address = await serve((request, response) => {
      const path = new URL(request.url ?? '', 'http://x').pathname.replace('/api/v2', '')
      const attributes = { name, email: 'a@example.com', permissions: { 'can-destroy': true } }
      const policy = { 'token-type': untextual, 'max-ttl-ms': untextual }
      if (path === '/organizations') json(response, { data: [resource('organizations', name, attributes)] })
      else if (path.endsWith('/token-ttl-policies')) json(response, { data: [resource('x', 'x', policy)] })
      else if (path.endsWith('/workspaces')) {
        const data = [
          resource('workspaces', 'ws-good', { name: 'good' }),
          resource('workspaces', 'ws-bound', { name: 'bound' }, bindings),
          resource('workspaces', 'ws-nested', { name: 'nested', description: 'HERE' }),
        ]
        const included = ['a', 'b'].map((id) => resource('tag-bindings', id, { key: untextual }))
        response.end(JSON.stringify({ data, included }).replace('"HERE"', nested))
      } else json(response, { data: [] })
    })
    const report = await importInto(target, sourceOf(address, TOKEN))
    expect(report.notCopied.map(({ name, reason }) => [name, reason])).toEqual([
      ['bound', expect.stringContaining('its form is wrong: /tagBindings')],
      ['nested', 'its form is wrong: it is nested deeper than 64'],
    ])
    expect(report.organizations[0]?.copied.workspaces).toBe(1)
  })

  test('copies only what is what the source says of it, and says what is not', async () => {
    const name = uniqueName('lies')
    const state = stateText('{}')
    const source = await lyingSource(name, {
      good: { attributes: { md5: md5Of(state).toUpperCase(), size: state.length }, content: state },
      'wrong-md5': { attributes: { md5: md5Of('other') }, content: state },
      'wrong-size': { attributes: { size: 3 }, content: state },
      'no-state': { attributes: {}, content: 'not a state' },
      'odd-lineage': { attributes: {}, content: String.raw`{"version": 4, "lineage": "a\q", "serial": 1}` },
      hidden: { attributes: { 'hosted-state-download-url': null } },
      elsewhere: { attributes: { 'hosted-state-download-url': 'http://10.0.0.1/x' } },
      'odd-serial': { attributes: { serial: '1' }, content: state },
    })
    const report = await importInto(target, source)
    const reasons = Object.fromEntries(
      report.notCopied
        .filter(({ kind, reason }) => kind === 'state versions' || !reason.includes('vcs'))
        .map(({ name, reason }) => [name, reason]),
    )
    expect(reasons).toEqual({
      [name]: expect.stringContaining('collaborator-auth-policy'),
      'red?[31m': expect.stringContaining('its form is wrong: /name'),
      'serial 1 of wrong-md5': expect.stringContaining('its MD5 hash is'),
      'serial 1 of wrong-size': `${state.length} bytes came, but the source says 3`,
      'serial 1 of no-state': expect.any(String),
      'serial 1 of odd-lineage': expect.any(String),
      'serial 1 of hidden': 'its content is hidden from this token, or gone',
      'serial 1 of elsewhere': 'it is at http://10.0.0.1, which is not https',
      'all of odd-serial': expect.stringContaining('its form is wrong: /serial'),
    })
    expect(report.notCopied.filter(({ reason }) => reason.includes('vcs-repo'))).toHaveLength(8)
    expect(report.lines().join('\n')).not.toContain('\u001b')
    const list = await target.admin.get(`/organizations/${name}/workspaces`)
    const found = list.json.data.map(
      (one: {
        attributes: { name: string; locked: boolean }
        relationships: { 'current-state-version': { data: object | null } }
      }) => [
        one.attributes.name,
        one.attributes.locked,
        one.relationships['current-state-version'].data !== null,
      ],
    )
    expect(found).toEqual(
      ['elsewhere', 'good', 'hidden', 'no-state', 'odd-lineage', 'odd-serial', 'wrong-md5', 'wrong-size'].map(
        (name) => [name, false, name === 'good'],
      ),
    )
  })
})
