import type { Logger } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { Browser, passwordLink } from './browser.ts'
import { useChromium, type Tab } from './chromium.ts'
import { startServer, type TestServer } from './server.ts'
import { createTestOrganization, type Person, type TestOrganization } from './world.ts'

export const PASSWORD = 'correct horse battery'

/** A server with an organization, and people who can sign in to its pages. The owner is one of them. */
export type Pages = {
  readonly server: TestServer
  readonly organization: TestOrganization
  /** The address of the organization's pages. */
  readonly address: string
  /** Lets a person sign in under this name of the test. */
  readonly add: (who: string, person: Person) => Promise<void>
  readonly usernameOf: (who: string) => string
  /** A tab without a session. */
  readonly open: () => Promise<Tab>
  /** A tab with a new session of this person. The tests of signing in use the form. */
  readonly signIn: (who: string) => Promise<Tab>
}

/**
 * Starts a server and a browser for the tests of a description or file, and stops them after the last one. They can be
 * used in tests and hooks only, not while the tests are described.
 *
 * @param log the server's log; without it only fatal errors are printed
 */
export function usePages(log?: Logger): Pages {
  const pages = {} as Pages
  beforeAll(async () => {
    Object.assign(pages, await startPages(open, log))
  })
  afterAll(() => pages.server.stop())
  const open = useChromium()
  return pages
}

async function startPages(open: () => Promise<Tab>, log: Logger | undefined): Promise<Pages> {
  // A test of long lists has more organizations than one user may found by default.
  const server = await startServer('sqlite', { maxOrganizations: '200' }, log)
  const organization = await createTestOrganization(server)
  const usernames = new Map<string, string>()
  const add = async (who: string, { id, username }: Person) => {
    await new Browser(server.address).signIn({
      link: await passwordLink(server.admin, id),
      password: PASSWORD,
    })
    usernames.set(who, username)
  }
  await add('owner', organization.owner)
  const usernameOf = (who: string) => {
    const username = usernames.get(who)
    if (username === undefined) throw new Error(`${who} was not added`)
    return username
  }
  const signIn = async (who: string) => {
    const { address } = server
    const browser = new Browser(address)
    await browser.signIn({ login: usernameOf(who), password: PASSWORD })
    const [name = '', value = ''] = (browser.cookie ?? '').split('=')
    const tab = await open()
    await tab.context.addCookies([{ name, value, url: address, httpOnly: true, sameSite: 'Lax' }])
    await tab.page.goto(`${address}/app`)
    await tab.page.getByRole('heading', { name: 'Organizations' }).waitFor()
    return tab
  }
  const address = `${server.address}/app/${organization.name}`
  return { server, organization, address, add, usernameOf, open, signIn }
}
