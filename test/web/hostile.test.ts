import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { pixelsBeyond, type Tab } from '../support/chromium.ts'
import { hostileTexts } from '../support/hostile-texts.ts'
import { PASSWORD, usePages } from '../support/pages.ts'
import { base64, createState, lock, postState, stateText } from '../support/states.ts'
import { body, createTeam, createUser, createWorkspace } from '../support/world.ts'

const NARROW = 360
const MOST_NAMES = 4
/** All rows of the tables, as the texts of their cells. */
const CELLS = `[...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))`
const MAIN_TEXT = `document.querySelector('main').textContent`
const KEYS = `[...document.querySelectorAll('dt')].map((key) => key.textContent)`
const MARKS = `[...document.querySelectorAll('dt bdi')].map((mark) =>
  [mark.textContent, getComputedStyle(mark, '::before').content, mark.getBoundingClientRect().width > 20])`
const IS_BUSY = `document.querySelector('[aria-busy=true]') !== null`
const SCRIPT_LINKS = `[...document.querySelectorAll('a')].map(({ href }) => href).filter((href) => !href.startsWith('http'))`
const OPEN_ALL = `document.querySelectorAll('details').forEach((details) => { details.open = true })`

/** All texts, several in each, because one visit for each text takes long. A description has at most 255 characters. */
const packed = hostileTexts.reduce<string[]>((packs, text) => {
  const last = packs.at(-1)
  if (last === undefined || last.length + text.length + 1 > 255) return [...packs, text]
  return [...packs.slice(0, -1), `${last} ${text}`]
}, [])

/** A field of one line drops what breaks lines. */
const withoutBreaks = (text: string) => text.replaceAll(/[\r\n]/g, '')

/** A tab, and what a text of somebody else made it do. */
type Watched = Tab & { readonly ran: string[] }

describe('a hundred hostile texts', () => {
  const pages = usePages()
  let workspaceId: string
  let newest: string
  let team: string
  const addressOf = (more = '') => `${pages.address}/workspaces/hostile${more}`

  const upload = async (serial: number, outputs: string): Promise<string> => {
    const { client } = pages.organization.owner
    await lock(client, workspaceId)
    const state = stateText(outputs, serial)
    const made = await postState(client, workspaceId, state, { state: base64(state) })
    expect(made.status, made.text).toBe(201)
    await client.post(`/workspaces/${workspaceId}/actions/unlock`)
    return made.json.data.id
  }

  beforeAll(async () => {
    workspaceId = await createWorkspace(pages.organization, { name: 'hostile' })
    await createState(
      pages.organization,
      outputsOf((text) => text),
      workspaceId,
    )
    newest = await upload(
      2,
      outputsOf((text) => `${text}!`),
    )
    team = await createTeam(pages.organization, { name: 'pipelines' })
    for (const text of hostileTexts) await spread(text)
  })

  /** An output with each text as its name and its value, and a sensitive one whose keys are the texts. */
  const outputsOf = (value: (text: string) => string) =>
    JSON.stringify(
      Object.fromEntries<object>([
        ...hostileTexts.map((text) => [text, { value: value(text), type: 'string' }] as const),
        [
          'a-secret',
          {
            value: Object.fromEntries(hostileTexts.map((text) => [text, [text]])),
            type: ['map', ['list', 'string']],
            sensitive: true,
          },
        ],
      ]),
    )

  /** Puts a text wherever texts are stored and shown. */
  const spread = async (text: string) => {
    const { client } = pages.organization.owner
    const { name } = pages.organization
    const place = hostileTexts.indexOf(text)
    const must = async (answering: ReturnType<typeof client.post>, status: number) => {
      const answer = await answering
      expect(answer.status, answer.text).toBe(status)
    }
    await must(client.patch(`/workspaces/${workspaceId}`, body('workspaces', { description: text })), 200)
    await must(
      client.post(
        `/organizations/${name}/projects`,
        body('projects', { name: `p-${place}`, description: text }),
      ),
      201,
    )
    const token = body('authentication-tokens', { description: text })
    await must(client.post(`/teams/${team}/authentication-tokens`, token), 201)
    const tag = {
      key: text.replaceAll(/[\p{Cc}]/gu, ' ').slice(0, 128),
      value: text.replaceAll(/[\p{Cc}]/gu, ' '),
    }
    const tags = { data: [{ type: 'tag-bindings', attributes: tag }] }
    await must(client.patch(`/projects/${await firstProject()}/tag-bindings`, tags), 200)
    await client.get(`/organizations/${name}/workspaces/${encodeURIComponent(text)}`)
    const invitation = body('organization-memberships', { email: mailboxOf(text) })
    await client.post(`/organizations/${name}/organization-memberships`, invitation)
  }
  const firstProject = async () => {
    const { client } = pages.organization.owner
    const { json } = await client.get(`/workspaces/${workspaceId}`)
    return json.data.relationships.project.data.id
  }
  /** An address that is one for the server. Some texts make none, and are refused. */
  const mailboxOf = (text: string) => `${text}@hostile.example`

  /** A tab of the owner that notes what must not happen: dialogs, requests to elsewhere, errors, other windows. */
  const watched = async (): Promise<Watched> => {
    const tab = await pages.signIn('owner')
    const ran: string[] = []
    tab.page.on('dialog', (dialog) => {
      ran.push(`dialog ${dialog.message()}`)
      void dialog.dismiss()
    })
    tab.context.on('page', (page) => ran.push(`window ${page.url()}`))
    tab.page.on('request', (request) => {
      if (new URL(request.url()).origin !== pages.server.address) ran.push(`request ${request.url()}`)
    })
    return { ...tab, ran }
  }
  const expectNothingRan = async ({ page, ran, complaints }: Watched) => {
    expect(ran).toEqual([])
    expect(complaints).toEqual([])
    expect(await page.title()).not.toMatch(/^ran/)
    expect(await page.evaluate(SCRIPT_LINKS)).toEqual([])
    expect(await pixelsBeyond(page, NARROW)).toBeLessThanOrEqual(0)
  }
  const cellsOf = (page: Page) => page.evaluate<string[][]>(CELLS)
  /** The cells of all pages of a list. */
  const allCells = async (tab: Watched): Promise<string[][]> => {
    const cells = await cellsOf(tab.page)
    const next = tab.page.getByRole('button', { name: 'Next' })
    while ((await next.count()) > 0 && (await next.isEnabled())) {
      const before = await tab.page.evaluate(MAIN_TEXT)
      await next.click()
      await expect.poll(() => tab.page.evaluate(MAIN_TEXT)).not.toBe(before)
      await expect.poll(() => tab.page.evaluate(IS_BUSY)).toBe(false)
      await tab.page.evaluate(OPEN_ALL)
      await expectNothingRan(tab)
      cells.push(...(await cellsOf(tab.page)))
    }
    return cells
  }

  test('are shown as the names and values of outputs', async () => {
    const tab = await watched()
    await tab.page.goto(addressOf())
    await tab.page.getByRole('row').nth(1).waitFor()
    await expectNothingRan(tab)
    const shown = new Map((await allCells(tab)).map(([name = '', value]) => [name, value]))
    for (const text of hostileTexts) expect(shown.get(text)).toBe(`${text}!`)
  })

  test('are shown as the keys of a map that is revealed', async () => {
    const tab = await watched()
    const { page } = tab
    await page.goto(`${addressOf()}?q=a-secret`)
    await page.getByRole('button', { name: 'Reveal a-secret' }).click()
    await page.getByText(`map of ${hostileTexts.length}`).click()
    await page.getByText('list of 1').first().click()
    await expect.poll(() => page.evaluate(KEYS)).toEqual(expect.arrayContaining([...hostileTexts]))
    // What nobody would see has a mark, which is not a part of the text.
    expect(await page.evaluate(MARKS)).toContainEqual(['\u202E', '"U+202E"', true])
    await expectNothingRan(tab)
  })

  test('are shown in what a state changed', async () => {
    const tab = await watched()
    await tab.page.goto(`${addressOf('/states')}?version=${newest}`)
    await tab.page.getByText('changed', { exact: false }).first().waitFor()
    await tab.page.getByRole('columnheader', { name: 'Before' }).waitFor()
    await expectNothingRan(tab)
    const shown = (await allCells(tab)).map((cells) => cells.join('|'))
    for (const text of hostileTexts) {
      expect(
        shown.filter((row) => row.includes(`${text} `) && row.includes(`|${text}|${text}!`)),
      ).not.toEqual([])
    }
  })

  test.each([
    [
      'the audit trail',
      () => `${pages.address}/audit?action=workspace.update`,
      (text: string) => JSON.stringify(text),
    ],
    ['the list of projects', () => `${pages.address}/projects`, (text: string) => text],
    ['the tokens of a team', () => `${pages.address}/settings/teams/${team}/tokens`, (text: string) => text],
  ])('are shown in %s', async (_, address, shownAs) => {
    const tab = await watched()
    await tab.page.goto(address())
    await tab.page.getByRole('row').nth(1).waitFor()
    await tab.page.evaluate(OPEN_ALL)
    await expectNothingRan(tab)
    const shown = String(await allCells(tab))
    for (const text of hostileTexts) expect(shown).toContain(shownAs(text))
  })

  test.each([
    ['the addresses of people who are invited', () => `${pages.address}/people`],
    ['the paths of refusals', () => `${pages.address}/refusals`],
    ['the tags of a workspace and its project', () => addressOf('/settings')],
  ])('do nothing in %s', async (_, address) => {
    const tab = await watched()
    await tab.page.goto(address())
    await tab.page.getByRole('button').nth(1).waitFor()
    await tab.page.evaluate(OPEN_ALL)
    await expectNothingRan(tab)
    await allCells(tab)
  })

  test('are shown as texts that were searched for, and as filters', async () => {
    const tab = await watched()
    const { page } = tab
    const places = [
      (text: string) => [`${pages.address}/settings/teams?q=${text}`, 'Find a team'],
      (text: string) => [`${pages.address}/workspaces?q=${text}`, 'Find a workspace'],
      (text: string) => [`${pages.address}/people?q=${text}`, 'Find people by name or email'],
      (text: string) => [`${pages.address}/access?user=${text}`, 'Person: user name or id'],
      (text: string) => [`${pages.address}/refusals?q=${text}`, 'Request id'],
      (text: string) => [`${pages.address}/audit?actor=${text}`, 'Who: name or id'],
      (text: string) => [`${pages.address}/audit?action=${text}`, 'Action, such as team.create'],
      (text: string) => [`${pages.address}/audit?output=${text}`, 'Revealed output'],
    ]
    for (const [place, text] of packed.entries()) {
      const [address = '', label = ''] = places[place % places.length]?.(encodeURIComponent(text)) ?? []
      await page.goto(address)
      await expect.poll(() => page.getByLabel(label).inputValue().catch(String)).toBe(withoutBreaks(text))
      await expect.poll(() => page.evaluate(IS_BUSY)).toBe(false)
      await expectNothingRan(tab)
    }
  })

  test.each([
    ['teams', 'settings/teams', 'New team'],
    ['projects', 'projects', 'New project'],
    ['workspaces', 'workspaces', 'New workspace'],
  ])('are refused as names of %s', async (_, path, form) => {
    const tab = await watched()
    const { page } = tab
    await page.goto(`${pages.address}/${path}`)
    await page.getByText(form, { exact: true }).click()
    for (const text of packed.slice(0, MOST_NAMES)) {
      await page.getByLabel('Name', { exact: true }).fill(text)
      await page.getByRole('button', { name: 'Create' }).click()
      await page.getByRole('alert').waitFor()
      await expectNothingRan(tab)
    }
  })

  test('are shown as the description of a workspace and the reason of its lock', async () => {
    const { client } = pages.organization.owner
    const tab = await watched()
    const { page } = tab
    for (const text of packed) {
      const description = body('workspaces', { description: text })
      expect((await client.patch(`/workspaces/${workspaceId}`, description)).status).toBe(200)
      const locked = await client.post(`/workspaces/${workspaceId}/actions/lock`, { reason: text })
      expect(locked.status, locked.text).toBe(200)
      await page.goto(addressOf('/access'))
      await expect.poll(() => page.evaluate<string>(MAIN_TEXT)).toContain(`locked: ${text}`)
      expect(await page.evaluate<string>(MAIN_TEXT)).toContain(text)
      await expectNothingRan(tab)
      await client.post(`/workspaces/${workspaceId}/actions/unlock`)
    }
  })

  test.each([
    '//elsewhere.example/x',
    '/\\elsewhere.example',
    '/\t/elsewhere.example',
    `javascript:document.title='ran'`,
  ])('lead nobody elsewhere after signing in: %s', async (next) => {
    // A person of its own: the owner has signed in as often as an account may in a row.
    const visitor = await createUser(pages.server, 'visitor')
    await pages.add('visitor', visitor)
    const tab = await watched()
    const { page } = tab
    await page.goto(`${pages.server.address}/app/~/sign-in?next=${encodeURIComponent(next)}`)
    await page.getByLabel('User name or email').fill(visitor.username)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign out' }).or(page.getByText('No such page')).first().waitFor()
    expect(new URL(page.url()).origin).toBe(pages.server.address)
    await expectNothingRan(tab)
  })
})
