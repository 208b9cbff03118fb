// The pages in Debian's Chromium: how much they load, how long until somebody can use them, and what they cost.
import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type CDPSession, type Page } from 'playwright-core'
import { median, type Bench, type Figure, type Row } from './bench.ts'
import { workspaceWith } from './rows-outputs.ts'
import type { Person } from './seed.ts'

const PROGRAM = process.env.PURSER_TEST_CHROMIUM ?? '/usr/bin/chromium'
const PASSWORD = 'the password of the benchmark'
const ROUNDS = 7
const QUICK_ROUNDS = 3
const OUTPUTS = 10_000
const SETTLE_MS = 2_000
/** The longest wait for the pages to be built, and for one to be drawn. */
const LIMIT_MS = 60_000
/** Most of a page, compressed. The aim leaves room for growth. */
const MOST_KB = 200
const AIM_KB = 150
const MOST_MS = 1_000
/** A browser calls a task long from here on. */
const AIM_TASK_MS = 50
const MOST_TASK_MS = 100
const MOST_IDLE_MB = 130

/** What one load of a page took. Times of tasks are CPU of the page's main thread. */
type Load = { kilobytes: number; interactive: number; longest: number; cpu: number }

type Shown = { what: string; address: string; reader?: Person; isDrawn: string }

export const pageRows: Row[] = [
  {
    id: 'pages',
    what: 'the pages in a browser',
    run: async (bench) => {
      const browser = await openBrowser()
      try {
        await built(bench)
        const figures: Figure[] = []
        for (const shown of await pagesOf(bench)) figures.push(...(await measure(bench, browser, shown)))
        return { figures: [...figures, await idleMemory(bench, browser)] }
      } finally {
        await browser.close()
      }
    },
  },
]

function openBrowser(): Promise<Browser> {
  if (!existsSync(PROGRAM)) {
    throw new Error(
      `${PROGRAM} is missing: on Debian install it with "apt-get install chromium", or name another Chromium with PURSER_TEST_CHROMIUM`,
    )
  }
  return chromium.launch({ executablePath: PROGRAM })
}

/** Waits until the server has built the pages, which a clone does after its first start. */
async function built(bench: Bench): Promise<void> {
  const until = performance.now() + LIMIT_MS
  for (;;) {
    const { status } = await fetch(addressOf(bench, '/app'))
    if (status === 200) return
    if (performance.now() > until) throw new Error(`/app is answered ${status}: npm run build:web says why`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function pagesOf(bench: Bench): Promise<Shown[]> {
  const { large, small } = bench.world
  const { workspaceId } = await workspaceWith(bench, OUTPUTS, true)
  return [
    { what: 'sign in', address: '/app', isDrawn: 'input[name=login]' },
    {
      what: 'list of teams, 100,000',
      address: `/app/${large.name}/settings/teams`,
      reader: large.owner,
      isDrawn: 'tbody tr:nth-child(20)',
    },
    {
      what: 'a workspace, 10,000 outputs',
      address: `/app/${small.name}/workspaces/${workspaceId}`,
      reader: small.owner,
      isDrawn: 'tbody tr:nth-child(100)',
    },
  ]
}

async function measure(bench: Bench, browser: Browser, shown: Shown): Promise<Figure[]> {
  const loads: Load[] = []
  const signedIn = shown.reader === undefined ? undefined : await signIn(bench, browser, shown.reader)
  // The first load is not counted: it fills the caches of the server.
  for (let round = 0; round <= (bench.isQuick ? QUICK_ROUNDS : ROUNDS); round++) {
    const context = await browser.newContext(signedIn === undefined ? {} : { storageState: signedIn })
    try {
      const load = await loadOnce(browser, context, addressOf(bench, shown.address), shown.isDrawn)
      if (round > 0) loads.push(load)
    } finally {
      await context.close()
    }
  }
  const of = (name: keyof Load) => median(loads.map((load) => load[name]))
  const figure = { better: 'less', details: `median of ${loads.length} loads, nothing cached` } as const
  return [
    {
      ...figure,
      what: `${shown.what}: script and style, gzip`,
      value: of('kilobytes'),
      unit: 'kB',
      atLeast: MOST_KB,
      aim: AIM_KB,
    },
    {
      ...figure,
      what: `${shown.what}: time to interactive`,
      value: of('interactive'),
      unit: 'ms',
      atLeast: MOST_MS,
      details: `${figure.details}; ${of('cpu').toFixed(0)} ms CPU of the main thread`,
    },
    {
      ...figure,
      what: `${shown.what}: longest task`,
      value: of('longest'),
      unit: 'ms',
      atLeast: MOST_TASK_MS,
      aim: AIM_TASK_MS,
      details: 'CPU of the main thread',
    },
  ]
}

const addressOf = ({ purser }: Bench, path: string) => `http://127.0.0.1:${purser.port}${path}`

/** Sets a password with a link, and returns the cookies. */
async function signIn(bench: Bench, browser: Browser, { id }: Person) {
  const made = await bench.purser.must('POST', `/admin/users/${id}/password-links`, bench.world.adminToken)
  const { data } = JSON.parse(made.text) as { data: { attributes: { link: string } } }
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(addressOf(bench, `/app/~/welcome#${data.attributes.link}`))
  await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
  await page.getByLabel('New password, again').fill(PASSWORD)
  await page.getByRole('button').click()
  await page.getByRole('heading', { name: 'Organizations' }).waitFor()
  const cookies = await context.storageState()
  await context.close()
  return cookies
}

/**
 * When the content is drawn and a task that is queued then has had its turn, in milliseconds since the navigation: from
 * then on the page answers to keys and clicks.
 */
const noteWhenInteractive = (
  isDrawn: string,
) => `globalThis.interactiveAt = new Promise((resolve, reject) => {
  setTimeout(() => reject(new Error('the page was not drawn in time')), ${LIMIT_MS})
  const look = () => document.querySelector(${JSON.stringify(isDrawn)}) === null
    ? requestAnimationFrame(look)
    : requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
  look()
})`

async function loadOnce(
  browser: Browser,
  context: BrowserContext,
  address: string,
  isDrawn: string,
): Promise<Load> {
  const page = await context.newPage()
  await page.addInitScript(noteWhenInteractive(isDrawn))
  const devtools = await context.newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
  const bytes = countBytes(page)
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline'] })
  await page.goto(address)
  const interactive = await page.evaluate<number>('globalThis.interactiveAt')
  const trace = await browser.stopTracing()
  return {
    kilobytes: (await bytes()) / 1000,
    interactive,
    longest: longestTask(trace),
    cpu: await mainThreadMs(devtools),
  }
}

/** Counts the compressed bytes of script and style. */
function countBytes(page: Page): () => Promise<number> {
  const sizes: Promise<number>[] = []
  page.on('requestfinished', (request) => {
    if (!['script', 'stylesheet'].includes(request.resourceType())) return
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
  })
  return async () => (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

type TraceEvent = { name: string; pid: number; tid: number; tdur?: number; args?: { name?: string } }

/** The longest task of the page's main thread, in milliseconds of CPU. */
function longestTask(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const mains = traceEvents
    .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
    .map(({ pid, tid }) => `${pid} ${tid}`)
  const tasks = traceEvents
    .filter(({ name, pid, tid }) => name.endsWith('RunTask') && mains.includes(`${pid} ${tid}`))
    .map(({ tdur = 0 }) => tdur / 1000)
  if (tasks.length === 0) throw new Error('the trace of the browser has no tasks')
  return tasks.reduce((longest, task) => Math.max(longest, task), 0)
}

async function mainThreadMs(devtools: CDPSession): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics')
  return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN)
}

/** Memory of a new server that has sent the pages once, and is idle again. */
async function idleMemory(bench: Bench, browser: Browser): Promise<Figure> {
  await bench.restart()
  const page = await browser.newPage()
  await page.goto(addressOf(bench, '/app'))
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await page.close()
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  const { rss, peakRss } = await bench.purser.usage()
  return {
    what: 'idle memory, after sending the pages',
    value: rss,
    unit: 'MB',
    atLeast: MOST_IDLE_MB,
    better: 'less',
    details: `at most ${peakRss.toFixed(0)} MB`,
  }
}
