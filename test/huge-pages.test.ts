import { beforeAll, expect, test } from 'vitest'
import { routes } from '../src/app.ts'
import { createHome, type Home } from './support/access-home.ts'
import { accessRoutes } from './support/access-requests.ts'
import { pathOf, targetsOf } from './support/access-targets.ts'
import { onEachEngine } from './support/on-each-engine.ts'
import { createUser } from './support/world.ts'

const beyondAny = '9'.repeat(400)

onEachEngine('pages of any number and size', (server) => {
  let home: Home
  beforeAll(async () => {
    home = await createHome(server)
  })

  /** The path and query of every list with pages, ready to append more parameters. */
  const lists = () =>
    routes
      .filter((route) => route.method === 'GET' && route.isList && !route.isUnpaged)
      .map(({ method, path }) => {
        const route = accessRoutes.find((one) => one.method === method && one.path === path)
        const userId = home.organization.owner.id
        const asker = { code: 'OWN', home, teamIds: [], isTeamToken: false, userId }
        const targets = route === undefined ? [] : targetsOf(route, home, asker)
        const target = targets.find(({ isSelf }) => isSelf) ?? targets[0]
        if (route === undefined || target === undefined) throw new Error(`nothing to ask ${path} about`)
        const filled = pathOf(route, target)
        return filled + (filled.includes('?') ? '&' : '?')
      })

  test('a size above the largest is the largest, however large it is', async () => {
    for (const path of lists()) {
      const largest = new Set<number>()
      for (const size of ['1000000', '2587042900703776', '9007199254740993', beyondAny, `000${beyondAny}`]) {
        const answer = await ask(`${path}page[size]=${size}`)
        expect(answer.status, path).toBe(200)
        largest.add(answer.json.meta.pagination['page-size'])
      }
      expect([...largest], path).toHaveLength(1)
    }
    const teams = await ask(`/organizations/${home.organization.name}/teams?page[size]=2587042900703776`)
    expect(teams.json.meta.pagination['page-size']).toBe(100)
  })

  test('a number past the end is an empty page, however large it is', async () => {
    for (const path of lists()) {
      for (const number of ['2587042900703776', '9223372036854775807', beyondAny]) {
        const answer = await ask(`${path}page[number]=${number}&page[size]=100`)
        expect(answer.status, path).toBe(200)
        // Some lists are always sent as a whole.
        if (!answer.json.links.self.includes('page')) continue
        expect(answer.json.data, path).toEqual([])
        const { pagination } = answer.json.meta
        expect(Number.isSafeInteger(pagination['current-page']), path).toBe(true)
        expect(pagination['next-page'], path).toBeNull()
        expect(pagination['prev-page'], path).toBe(pagination['total-pages'])
      }
    }
    for (const wrong of ['0', '00', '-1', '1.5', '1e3', 'x', '٣']) {
      for (const name of ['number', 'size']) {
        const answer = await ask(`/organizations?page[${name}]=${encodeURIComponent(wrong)}`)
        expect(answer.status, wrong).toBe(400)
      }
    }
  })

  test('a wrong page is refused before the list is looked for', async () => {
    const outsider = await createUser(server)
    for (const path of lists()) {
      for (const page of ['page[number]=0', 'page[size]=x']) {
        expect((await outsider.client.get(path + page)).status, path + page).toBe(400)
      }
    }
  })

  /** Only the site administrator may list all users. */
  const ask = (path: string) =>
    path.startsWith('/admin') ? server.admin.get(path) : home.organization.owner.client.get(path)
})
