// Strangers send wrong passwords, and people with right ones sign in meanwhile. The proxy's header gives everybody an address.
import { setTimeout } from 'node:timers/promises'
import { passwordLink } from '../test/support/browser.ts'
import { BrowserAt } from '../test/support/browser-at.ts'
import type { TestServer } from '../test/support/server.ts'
import { createUser } from '../test/support/world.ts'
import type { Attack, Settings } from './stage.ts'

const PASSWORD = 'correct horse battery'
const OFFICE = '192.0.2.7'
const ATTACK_MS = 8_000

export const settings: Settings = { trustProxy: 'true' }

export const attack: Attack = async (server, show) => {
  const colleagues = []
  for (let count = 0; count < 10; count += 1) colleagues.push(await signedIn(server, OFFICE))
  const victim = await signedIn(server, '198.51.100.1')

  const guess = (login: string, address: string) =>
    new BrowserAt(server, address).signIn({ login, password: 'a wrong password' })
  const statusOf = async ({ username: login }: { username: string }, browser: BrowserAt) =>
    (await browser.signIn({ login, password: PASSWORD })).status

  for (let count = 0; count < 54; count += 1) await guess(`random-${count}`, OFFICE)
  const known: number[] = []
  const fresh: number[] = []
  for (let round = 0; round < 6; round += 1) {
    for (const { user, browser } of colleagues) {
      known.push(await statusOf(user, browser))
      fresh.push(await statusOf(user, new BrowserAt(server, OFFICE)))
    }
  }
  const accepted = (statuses: number[]) =>
    `${statuses.filter((status) => status === 201).length} of ${statuses.length}`
  show(
    '54 wrong passwords from the office: sign-ins there with browsers that had signed in before',
    '0 of 60',
    accepted(known),
  )
  show('the same with new browsers', '0 of 60', accepted(fresh))

  const network = (place: number) => `2001:db8:0:${place.toString(16)}`
  const end = performance.now() + ATTACK_MS
  const strangers = Array.from({ length: 24 }, async (_, place) => {
    let checked = 0
    while (performance.now() < end) {
      const { status } = await guess(victim.user.username, network(place))
      if (status === 401) checked += 1
      else await setTimeout(10)
    }
    return checked
  })
  let longest = 0
  const beside: number[] = []
  while (performance.now() < end) {
    const begun = performance.now()
    beside.push(await statusOf(victim.user, victim.browser))
    longest = Math.max(longest, performance.now() - begun)
    await setTimeout(ATTACK_MS / 20)
  }
  const checked = (await Promise.all(strangers)).reduce((sum, count) => sum + count, 0)
  show('24 strangers in one /48 guess: sign-ins of the right user', '1 of 24', accepted(beside))
  show('the longest of these, in milliseconds', 'not measured', Math.round(longest))
  show('guesses at this account that were checked in 8 seconds', 144, checked)

  const insider = await signedIn(server, '203.0.113.1')
  const until = performance.now() + ATTACK_MS
  const rates = Array.from({ length: 4 }, async () => {
    let count = 0
    while (performance.now() < until) {
      if ((await statusOf(insider.user, insider.browser)) === 201) count += 1
      else await setTimeout(10)
    }
    return count
  })
  const sessions = (await Promise.all(rates)).reduce((sum, count) => sum + count, 0)
  show('sessions that one user began on 4 connections in 8 seconds', 'as many as it could hash', sessions)
}

async function signedIn(server: TestServer, address: string) {
  const user = await createUser(server)
  const browser = new BrowserAt(server, address)
  await browser.signIn({ link: await passwordLink(server.admin, user.id), password: PASSWORD })
  return { user, browser }
}
