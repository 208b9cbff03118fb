import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

const ROOT = join(import.meta.dirname, '../..')
/** The program finds its pages and package.json from here. Several runs may go on at the same time. */
const FOLDER = join(ROOT, `dist/program-${process.pid}`)

/**
 * Builds what the servers of tests would else build or load beside them: the pages, and the program, unless the run names
 * its files.
 */
export async function setup(): Promise<void> {
  // Each project of vitest.config.ts calls this.
  if (process.env['PURSER_TEST_BUILT'] !== undefined) return
  process.env['PURSER_TEST_BUILT'] = '1'
  execFileSync(process.execPath, [join(ROOT, 'scripts/build-web.ts')], { stdio: 'inherit' })
  const namesFiles = process.argv.some((argument) => argument.endsWith('.test.ts'))
  const isWhole = process.env['PURSER_TEST_ALL'] === '1' || !namesFiles
  if (isWhole) process.env['PURSER_TEST_PROGRAM'] = await buildProgram()
}

/**
 * A run of all files starts the program up to a thousand times. The sources and libraries are 1,200 modules, which take two
 * thirds of the time of a command to load. Returns the main file of the same program in few files.
 */
async function buildProgram(): Promise<string> {
  process.once('exit', () => rmSync(FOLDER, { recursive: true, force: true }))
  await build({
    configFile: false,
    logLevel: 'error',
    root: ROOT,
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: FOLDER,
      minify: false,
      target: 'node24',
      rolldownOptions: {
        input: {
          main: join(ROOT, 'src/main.ts'),
          // Threads load these by name.
          'content-thread': join(ROOT, 'src/state-content/content-thread.ts'),
          'hash-thread': join(ROOT, 'src/users/hash-thread.ts'),
          'read-thread': join(ROOT, 'src/database/read-thread.ts'),
          'state-sink': join(ROOT, 'src/state-content/state-sink.ts'),
        },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  })
  return join(FOLDER, 'main.js')
}
