import type { Logger } from 'pino'
import { Browser, passwordLink } from './browser.ts'
import type { Tab } from './chromium.ts'
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
}

/** @param log the server's log; without it only fatal errors are printed */
export async function usePages(log?: Logger): Promise<Pages> {
  const server = await startServer('sqlite', {}, log)
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
  return { server, organization, address: `${server.address}/app/${organization.name}`, add, usernameOf }
}

/** A tab with a new session of this person. The tests of signing in use the form. */
export async function signInWith(open: () => Promise<Tab>, pages: Pages, who: string): Promise<Tab> {
  const { address } = pages.server
  const browser = new Browser(address)
  await browser.signIn({ login: pages.usernameOf(who), password: PASSWORD })
  const [name = '', value = ''] = (browser.cookie ?? '').split('=')
  const tab = await open()
  await tab.context.addCookies([{ name, value, url: address, httpOnly: true, sameSite: 'Lax' }])
  await tab.page.goto(`${address}/app`)
  await tab.page.getByRole('heading', { name: 'Organizations' }).waitFor()
  return tab
}
