import { describe, expect, test } from 'vitest'
import { RECENT_MINUTES } from '../../src/access/recent-password.ts'
import { addSessions } from '../support/browser.ts'
import { Client } from '../support/client.ts'
import { expectWellMade, type Tab } from '../support/chromium.ts'
import { usePages, PASSWORD } from '../support/pages.ts'
import { createUser } from '../support/world.ts'

/** Requests for sessions read a hundred at a time. */
const MORE_THAN_A_PAGE = 101

describe('the pages of an account', () => {
  const pages = usePages()

  const signIn = (): Promise<Tab> => pages.signIn('owner')

  test('make a token where the clients send people, and sign in first if needed', async () => {
    const tab = await pages.open()
    const { page } = tab
    await page.goto(`${pages.server.address}/app/settings/tokens?source=terraform-login`)
    await page.getByLabel('User name or email').fill(pages.usernameOf('owner'))
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('paste it into the terminal').waitFor()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByLabel('What it is for').fill('my laptop')
    await page.getByRole('button', { name: 'Create' }).click()
    const token = await page.getByLabel('Token', { exact: true }).inputValue()
    const { json } = await new Client(pages.server.address, token).get('/account/details')
    expect(json.data.attributes.username).toBe(pages.usernameOf('owner'))
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('rowheader', { name: 'my laptop' }).waitFor()
  })

  test('keep a new token in view until it is said to be kept elsewhere', async () => {
    const { page } = await signIn()
    await page.goto(`${pages.server.address}/app/settings/tokens`)
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByLabel('What it is for').fill('pressed away')
    await page.keyboard.press('Enter')
    const token = page.getByLabel('Token', { exact: true })
    await token.waitFor()
    // A browser lets a page refuse the first ones only.
    for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press('Escape')
    expect(await token.isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'New token' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  test('ask for the password again before a token is made, and go on with what was typed', async () => {
    const tab = await signIn()
    const { page } = tab
    await page.goto(`${pages.server.address}/app/settings/tokens`)
    pages.server.clock.advance(RECENT_MINUTES * 60_000)
    try {
      await page.getByRole('button', { name: 'New token' }).click()
      await page.getByLabel('What it is for').fill('made later')
      await page.getByRole('button', { name: 'Create' }).click()
      const dialog = page.getByRole('dialog', { name: 'Your password, again' })
      await dialog.getByRole('button', { name: 'Not now' }).click()
      await page.getByText('this needs your password again').waitFor()
      await page.getByRole('button', { name: 'Create' }).click()
      await dialog.getByLabel('Your password').fill('wrong')
      await dialog.getByRole('button', { name: 'Go on' }).click()
      await dialog.getByText('password is wrong').waitFor()
      await expectWellMade(tab)
      await dialog.getByLabel('Your password').fill(PASSWORD)
      await dialog.getByRole('button', { name: 'Go on' }).click()
      await page.getByLabel('Token', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('rowheader', { name: 'made later' }).waitFor()
    } finally {
      pages.server.clock.advance(-RECENT_MINUTES * 60_000)
    }
  })

  test('revoke all tokens at once', async () => {
    const person = await createUser(pages.server)
    await pages.add('many', person)
    const { page } = await pages.signIn('many')
    await page.goto(`${pages.server.address}/app/settings/tokens`)
    await page.getByRole('button', { name: 'Revoke all …' }).click()
    await page.getByRole('button', { name: 'Revoke all for good' }).click()
    await page.getByText('No tokens.').waitFor()
    expect((await person.client.get('/account/details')).status).toBe(401)
  })

  test('show all sessions, a page at a time', async () => {
    const { page } = await signIn()
    await addSessions(pages.server, pages.organization.owner.id, 21)
    await page.goto(`${pages.server.address}/app/~/account`)
    await expect.poll(() => page.getByRole('button', { name: 'End', exact: true }).count()).toBe(20)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByRole('rowheader', { name: 'this browser' }).waitFor()
    await page.getByRole('button', { name: 'End all others' }).click()
    await page.getByText('There is nothing on page 2 any more.').waitFor()
    await page.getByRole('button', { name: 'Show the first page' }).click()
    await page.getByRole('rowheader', { name: 'this browser' }).waitFor()
  })

  test('sign out of this browser, also if very many sessions are newer', async () => {
    const person = await createUser(pages.server)
    await pages.add('often', person)
    const { page } = await pages.signIn('often')
    await addSessions(pages.server, person.id, MORE_THAN_A_PAGE)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Purser' }).waitFor()
    await page.goto(`${pages.server.address}/app`)
    await page.getByRole('heading', { name: 'Sign in to Purser' }).waitFor({ timeout: 10_000 })
  })

  test('end another session, and show which one is this browser', async () => {
    const other = await signIn()
    const tab = await signIn()
    const { page } = tab
    await page.getByRole('link', { name: pages.usernameOf('owner') }).click()
    await page.getByRole('rowheader', { name: 'this browser' }).waitFor()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'End all others' }).click()
    await page.getByRole('button', { name: 'End all others' }).waitFor({ state: 'detached' })
    await other.page.getByRole('link', { name: pages.organization.name }).click()
    const dialog = other.page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await other.page.getByRole('heading', { name: 'Workspaces' }).waitFor()
    await page.reload()
    await page.getByRole('rowheader', { name: 'this browser' }).waitFor()
  })

  test('change the password, in the words of the server if that fails', async () => {
    const tab = await signIn()
    const { page } = tab
    await page.goto(`${pages.server.address}/app/~/account`)
    const change = async (present: string, next: string) => {
      await page.getByLabel('Present password').fill(present)
      await page.getByLabel('New password', { exact: true }).fill(next)
      await page.getByLabel('New password, again').fill(next)
      await page.getByRole('button', { name: 'Change the password' }).click()
    }
    await change('not the present one', 'another horse battery')
    await page.getByText('current_password is wrong').waitFor()
    await change(PASSWORD, 'password1')
    await page.getByText('one of the most common').waitFor()
    await expectWellMade(tab)
    await change(PASSWORD, 'another horse battery')
    await page.getByText('The password is changed.').waitFor()
    expect(await page.getByLabel('Present password').inputValue()).toBe('')
    await page.getByLabel('end all your tokens, too').check()
    await change('another horse battery', PASSWORD)
    await page.getByText('and so have all tokens').waitFor()
  })
})
