import { beforeAll, describe, expect, test } from 'vitest'
import {
  addressIn,
  declaredAddresses,
  makePageWorld,
  settling,
  type PageWorld,
} from '../support/every-page.ts'
import { usePages } from '../support/pages.ts'
import { base64, lock, postState, stateText } from '../support/states.ts'
import { createTestOrganization, createWorkspace, invitePerson, made } from '../support/world.ts'

const MOST_BUTTONS = 60
/** Of every button that can be pressed: its number, its name, and whether it sends a form. */
const BUTTONS = `[...document.querySelectorAll('button')].map((one, place) => ({
  place,
  name: one.getAttribute('aria-label') ?? one.textContent,
  form: one.closest('form, [role=group], dialog')?.getAttribute('aria-label') ?? '',
  isSubmit: one.type === 'submit',
  isThere: one.checkVisibility() && one.getAttribute('aria-disabled') !== 'true'
    && (document.querySelector('dialog[open]')?.contains(one) ?? true),
})).filter(({ isThere }) => isThere)`
/** Where to press a button. */
const MIDDLE = `((place) => {
  const one = document.querySelectorAll('button')[place]
  one?.scrollIntoView({ block: 'center' })
  const { x = 0, y = 0, width = 0, height = 0 } = one?.getBoundingClientRect() ?? {}
  return [x + width / 2, y + height / 2]
})`
const OPEN_ALL = `document.querySelectorAll('details').forEach((one) => (one.open = true))`
/** Last, because what they close can be pressed no more. */
const CLOSES = /^(Discard|Keep|Done|Leave|No$|Close)/

type Found = {
  readonly place: number
  readonly name: string
  readonly form: string
  readonly isSubmit: boolean
}

/** Types and chooses something else in every field of the form or group around a button. */
const FILL = `((place) => {
  const type = (field, text) => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text)
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
  const around = document.querySelectorAll('button')[place]?.closest('form, [role=group]')
  for (const field of around?.querySelectorAll('input:enabled') ?? []) {
    const [, name] = /^Type (.*) to delete it$/.exec(field.labels[0]?.textContent ?? '') ?? []
    const some = Math.random().toString(36).slice(2, 8)
    if (field.type === 'radio' || field.type === 'checkbox') field.checked || field.click()
    else if (field.type === 'password') type(field, 'a long enough password')
    else if (field.type === 'email') type(field, some + '@example.com')
    else if (field.type === 'number') type(field, String(1 + Math.floor(Math.random() * 9)))
    else if (field.type !== 'search') type(field, name ?? 'x' + some)
  }
})`
/** Sends the form of a button twice in one turn, as no person can. */
const SEND_TWICE = `((place) => {
  const form = document.querySelectorAll('button')[place]?.closest('form')
  form?.requestSubmit()
  form?.requestSubmit()
})`

/**
 * Counts the requests of a page that change something. None of them reaches the server: the page is answered that it is
 * busy, at once, or when it is released.
 */
const COUNT_WRITES = `{
  const send = window.fetch
  window.writes = []
  window.fetch = async (address, options) => {
    if ((options?.method ?? 'GET') === 'GET' || /dry-run|links\\/show/.test(address)) return send(address, options)
    window.writes.push(options.method + ' ' + address)
    await window.held?.promise
    const body = JSON.stringify({ errors: [{ status: '503', title: 'busy' }] })
    return new Response(body, { status: 503, headers: { 'content-type': 'application/vnd.api+json' } })
  }
}`
const HOLD = 'window.held = Promise.withResolvers()'
const RELEASE = 'window.held.resolve(); window.held = undefined'
/** What was sent, after the page has drawn twice. */
const WRITES = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(window.writes.splice(0)))))`

describe('two presses in quick succession', () => {
  const pages = usePages()
  let world: PageWorld
  let more: string[]
  beforeAll(async () => {
    world = await makePageWorld(pages)
    const { organization, server } = pages
    const { owner } = organization
    await server.admin.post(`/admin/users/${owner.id}/actions/grant_admin`)
    await invitePerson(await createTestOrganization(server), owner)
    const id = await createWorkspace(organization, { name: 'locked' })
    await lock(owner.client, world.workspaceId)
    const state = stateText('{}', 2)
    made(await postState(owner.client, world.workspaceId, state, { state: base64(state) }), 201)
    await owner.client.post(`/workspaces/${world.workspaceId}/actions/unlock`)
    await lock(owner.client, id)
    const versions = await owner.client.get(
      `/state-versions?filter[organization][name]=${organization.name}&filter[workspace][name]=database`,
    )
    await owner.client.post(`/teams/${world.team}/authentication-tokens`, undefined)
    more = [
      '/$organization/workspaces/locked',
      `/$organization/workspaces/$workspace/states?version=${versions.json.data[1].id}`,
      '/~/welcome#secret',
      '/~/welcome?invited=true#secret',
    ]
  })

  test('of a button are one: every button of every page', { timeout: 900_000 }, async () => {
    const { page } = await pages.signIn('owner')
    const settled = settling(page)
    await page.addInitScript(COUNT_WRITES)
    // Presses count as quick or slow by the clock of the page.
    let now = Date.now()
    const later = () => page.clock.setFixedTime((now += 5_000))
    const repeated: string[] = []
    const silent = new Set<string>()
    const writing = new Set<string>()

    const tried = async (path: string, name: string, gesture: string, press: () => Promise<void>) => {
      await later()
      await press()
      await settled()
      const made = await page.evaluate<string[]>(WRITES)
      if (made.length > 1) repeated.push(`${path}, ${name}, ${gesture}: ${made.join(' and ')}`)
      return made.length
    }

    for (const path of [...declaredAddresses(), ...more]) {
      await later()
      await page.goto('about:blank')
      await page.goto(addressIn(pages, world, path))
      await settled()
      await page.evaluate(OPEN_ALL)
      const pressed = new Set<string>()
      for (let count = 0; count < MOST_BUTTONS; count += 1) {
        const found = await page.evaluate<Found[]>(BUTTONS)
        const key = ({ form, name }: Found) => `${form} › ${name}`
        const left = found.filter((one) => !pressed.has(key(one)))
        const one =
          left.find(({ isSubmit }) => isSubmit) ?? left.find(({ name }) => !CLOSES.test(name)) ?? left[0]
        if (one === undefined) break
        pressed.add(key(one))
        const button = page.locator('button').nth(one.place)
        let sent = 0
        if (one.isSubmit) {
          await page.evaluate(`${FILL}(${one.place})`)
          sent += await tried(path, key(one), 'sent twice by a script', async () => {
            await page.evaluate(HOLD)
            await page.evaluate(`${SEND_TWICE}(${one.place})`)
            await settled()
            await page.evaluate(RELEASE)
          })
        }
        await page.evaluate(`${FILL}(${one.place})`)
        if (!(await button.isVisible())) continue
        sent += await tried(path, key(one), 'double click', async () => {
          const [x, y] = await page.evaluate<[number, number]>(`${MIDDLE}(${one.place})`)
          await page.mouse.move(x, y)
          await page.mouse.down({ clickCount: 1 })
          await page.mouse.up({ clickCount: 1 })
          // The first answer is there when the second press comes.
          await settled()
          await page.mouse.down({ clickCount: 2 })
          await page.mouse.up({ clickCount: 2 })
        })
        if (one.isSubmit && (await button.isVisible())) {
          await page.evaluate(`${FILL}(${one.place})`)
          sent += await tried(path, key(one), 'Enter twice', async () => {
            await button.focus()
            await page.keyboard.press('Enter')
            await settled()
            await page.keyboard.press('Enter')
          })
          if (sent > 0) writing.add(key(one))
          else silent.add(key(one))
        }
      }
    }
    expect(repeated).toEqual([])
    expect([...silent].filter((name) => !writing.has(name) && !/ › (Find|Ask)$/.test(name))).toEqual([])
    expect(writing.size).toBeGreaterThan(10)
  })
})
