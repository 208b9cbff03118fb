import { beforeAll, describe, expect, test } from 'vitest'
import { expectWellMade, type Tab } from '../support/chromium.ts'
import { usePages } from '../support/pages.ts'
import { createState, lock, postState, stateText, base64 } from '../support/states.ts'
import { addMember, createTeam, createUser, grantWorkspace, uniqueName } from '../support/world.ts'

const HOSTILE = `<img src=x onerror="document.title='ran'"><script>document.title='ran'</script>`
const MANY = 150
const LONG = 'long '.repeat(2_000)
const SENSITIVE = { sensitive: true }
const outputsOf = (address: string, password: string) =>
  JSON.stringify({
    address: { value: address, type: 'string' },
    hostile: { value: HOSTILE, type: 'string' },
    empty: { value: '', type: 'string' },
    long: { value: LONG, type: 'string' },
    password: { value: password, type: 'string', ...SENSITIVE },
    subnets: { value: [{ cidr: '10.0.1.0/24' }], type: ['list', ['object', { cidr: 'string' }]] },
  }).replace('{', '{"cluster_id": {"value": 90071992547409931.50, "type": "number"},')

describe('the pages of a workspace', () => {
  const pages = usePages()
  let workspaceId: string
  let workspace: string
  beforeAll(async () => {
    const { organization, server } = pages
    ;({ workspaceId } = await createState(organization, outputsOf('old.example', 's3cret-1')))
    await upload(2, outputsOf('new.example', 's3cret-2'))
    workspace = (await organization.owner.client.get(`/workspaces/${workspaceId}`)).json.data.attributes.name
    const readers = await createTeam(organization, { name: 'readers' })
    await grantWorkspace(organization, readers, workspaceId, {
      access: 'custom',
      'state-versions': 'read-outputs',
    })
    await pages.add('reader', await addMember(server, organization, [readers]))
    await pages.add('plain', await addMember(server, organization))
  })

  const upload = async (serial: number, outputs: string) => {
    const { client } = pages.organization.owner
    await lock(client, workspaceId)
    const state = stateText(outputs, serial)
    const made = await postState(client, workspaceId, state, { state: base64(state) })
    expect(made.status, made.text).toBe(201)
    await client.post(`/workspaces/${workspaceId}/actions/unlock`)
  }
  const addressOf = (more = '') => `${pages.address}/workspaces/${workspace}${more}`
  const signIn = (who: string): Promise<Tab> => pages.signIn(who)
  const rowOf = ({ page }: Tab, name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('rowheader', { name }) })
  const clipboardOf = async ({ page, context }: Tab): Promise<string> => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    return page.evaluate<string>('navigator.clipboard.readText()')
  }

  test('show outputs with every digit, as text and as a tree, and find them by name', async () => {
    const tab = await signIn('reader')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces`)
    await page.getByLabel('Find a workspace').fill(workspace.slice(2))
    await page.getByRole('link', { name: workspace }).click()
    await rowOf(tab, 'address').getByText('new.example').waitFor()
    expect(await rowOf(tab, 'cluster_id').textContent()).toContain('90071992547409931.50')
    expect(await rowOf(tab, 'hostile').textContent()).toContain(HOSTILE)
    expect(await rowOf(tab, 'empty').textContent()).toContain('an empty text')
    expect(await rowOf(tab, 'long').textContent()).toContain('the whole value has 10,002 bytes')
    await rowOf(tab, 'subnets').getByText('list of 1').click()
    await rowOf(tab, 'subnets').getByText('map of 1').click()
    await rowOf(tab, 'subnets').getByText('10.0.1.0/24').waitFor()
    expect(await page.title()).not.toBe('ran')
    await expectWellMade(tab)
    // The long value leaves room for the word on the button.
    const copy = await page.getByRole('button', { name: 'Copy long' }).boundingBox()
    expect(copy?.height).toBeLessThan(40)
    await page.getByLabel('Find an output').fill('CLUSTER')
    await rowOf(tab, 'address').waitFor({ state: 'detached' })
    expect(page.url()).toContain('?q=CLUSTER')
    await rowOf(tab, 'cluster_id').waitFor()
    await page.getByLabel('Find an output').fill(uniqueName('none'))
    await page.getByText('No output matches').waitFor()
  })

  test('reveal a sensitive output on a click only, and copy it without showing it', async () => {
    const tab = await signIn('reader')
    const { page, context } = tab
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(addressOf())
    await rowOf(tab, 'password').waitFor()
    expect(await page.content()).not.toContain('s3cret')
    await page.getByRole('button', { name: 'Reveal password' }).click()
    await rowOf(tab, 'password').getByText('s3cret-2').waitFor()
    await page.getByRole('button', { name: 'Hide password' }).click()
    await page.getByRole('button', { name: 'Copy password' }).click()
    await rowOf(tab, 'password').getByText('Copied').waitFor()
    expect(await clipboardOf(tab)).toBe('s3cret-2')
    expect(await page.content()).not.toContain('s3cret')
    const path = `/organizations/${pages.organization.name}/audit-events?filter[action]=output.reveal`
    const { json } = await pages.organization.owner.client.get(path)
    expect(json.data).toHaveLength(2)
    expect(JSON.stringify(json.data)).toContain(pages.usernameOf('reader'))
    expect(tab.complaints).toEqual([])
  })

  test('copy a value whole, as JSON, as HCL and as a command', async () => {
    const tab = await signIn('reader')
    const { page, context } = tab
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(addressOf())
    const copied = async (form: string, name: string) => {
      await page.getByLabel('Copy as').selectOption(form)
      await page.getByRole('button', { name: `Copy ${name}` }).click()
      await rowOf(tab, name).getByText('Copied').waitFor()
      const text = await clipboardOf(tab)
      await rowOf(tab, name).getByText('Copied').waitFor({ state: 'detached' })
      return text
    }
    expect(await copied('value', 'long')).toBe(LONG)
    expect(await copied('JSON', 'cluster_id')).toBe('90071992547409931.50')
    expect(await copied('JSON', 'address')).toBe('"new.example"')
    expect(await copied('HCL (tfe_outputs)', 'address')).toContain(`.values.address`)
    expect(await copied('curl', 'address')).toMatch(
      /\/api\/v2\/workspaces\/ws-\w+\/current-state-version-outputs$/,
    )
  })

  test('announce a new state, and show it on a click', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.clock.install()
    await page.goto(addressOf())
    await rowOf(tab, 'address').getByText('new.example').waitFor()
    await upload(3, outputsOf('newest.example', 's3cret-2'))
    await page.clock.runFor(11_000)
    await page.getByText('A newer state is here.').waitFor()
    expect(await rowOf(tab, 'address').textContent()).toContain('new.example')
    await page.getByRole('button', { name: 'Show it' }).click()
    await rowOf(tab, 'address').getByText('newest.example').waitFor()
  })

  test('show what changed between two states, and roll back after showing what that changes', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(addressOf())
    await page.getByRole('link', { name: 'History' }).click()
    await page.getByRole('link', { name: '2', exact: true }).click()
    await page.getByText('0 added · 2 changed · 0 removed').waitFor()
    expect(await rowOf(tab, 'address').textContent()).toMatch(/old\.example.*new\.example/)
    expect(await rowOf(tab, 'password').textContent()).toContain('changed, hidden')
    expect(await page.content()).not.toContain('s3cret')
    await expectWellMade(tab)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).first().click(),
    ])
    expect(download.suggestedFilename()).toBe(`${workspace}-3.tfstate`)
    await page.getByRole('link', { name: '1', exact: true }).click()
    await page.getByLabel('Compare with').selectOption({ label: 'serial 2' })
    await page.getByRole('button', { name: 'Roll back to serial 1 …' }).click()
    const question = page.getByRole('group', { name: 'Roll back to serial 1' })
    await question.getByText('old.example').waitFor()
    await expectWellMade(tab)
    await question.getByRole('button', { name: 'Roll back to serial 1' }).click()
    await page.getByRole('link', { name: '4', exact: true }).waitFor()
    const now = await pages.organization.owner.client.get(`/workspaces/${workspaceId}`)
    expect(now.json.data.attributes.locked).toBe(false)
  })

  test('lock and unlock, also by force after a warning', async () => {
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(addressOf())
    await page.getByRole('button', { name: 'Lock', exact: true }).click()
    await page.getByText('locked', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Unlock by force …' }).click()
    await expectWellMade(tab)
    await page.getByRole('button', { name: 'Unlock by force', exact: true }).click()
    await page.getByText('Not locked').waitFor()
  })

  test('show a plain member the outputs by id, and nothing sensitive', async () => {
    const tab = await signIn('plain')
    const { page } = tab
    await page.goto(addressOf())
    await page.getByText('Not there, or not for you').waitFor()
    await page.goto(`${pages.address}/workspaces/${workspaceId}`)
    await rowOf(tab, 'address').waitFor()
    expect(await page.getByRole('button', { name: 'Reveal password' }).count()).toBe(0)
    await rowOf(tab, 'password').getByText('Teams with the access read-outputs may read it').waitFor()
    await expectWellMade(tab)
  })

  test('do not say to a stranger that they may see the outputs, and name the request', async () => {
    await pages.add('stranger', await createUser(pages.server))
    const tab = await signIn('stranger')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces/${workspaceId}`)
    await page.getByText('You may not see the workspace').waitFor({ timeout: 10_000 })
    await page.getByText('Not there, or not for you').waitFor({ timeout: 10_000 })
    await page.getByText(/^Request [0-9a-f]{20}$/).waitFor()
    await expectWellMade(tab)
  })

  test('draw a very long list in parts', async () => {
    const long = Array.from({ length: 100_000 }, (_, place) => place)
    const outputs = { long: { value: long, type: ['list', 'number'], ...SENSITIVE } }
    const other = await createState(pages.organization, JSON.stringify(outputs))
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces/${other.workspaceId}`)
    await page.getByRole('button', { name: 'Reveal long' }).click()
    await page.getByText('list of 100,000').click()
    await page.getByRole('definition').filter({ hasText: /^499$/ }).waitFor({ timeout: 5_000 })
    expect(await page.getByRole('definition').count()).toBe(500)
    await page.getByRole('button', { name: 'Show more, after 500 of 100,000' }).click()
    await page.getByRole('definition').filter({ hasText: /^999$/ }).waitFor()
    expect(await page.getByRole('definition').count()).toBe(1_000)
  })

  test('lead through many outputs page by page', async () => {
    const many = Object.fromEntries(
      Array.from({ length: MANY }, (_, n) => [
        `o${String(n).padStart(3, '0')}`,
        { value: n, type: 'number' },
      ]),
    )
    const other = await createState(pages.organization, JSON.stringify(many))
    const tab = await signIn('owner')
    const { page } = tab
    await page.goto(`${pages.address}/workspaces/${other.workspaceId}`)
    await page.getByText('150 found').waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await rowOf(tab, 'o149').waitFor()
    expect(page.url()).toContain('page=2')
    await page.reload()
    await rowOf(tab, 'o149').waitFor()
  })
})
