// Builds the pages in web/ to dist/web, unless they are built from these sources already.
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'vite'
import { arePagesBuilt, BUILT, MARK, sourcesOfPages } from '../src/web-pages/sources.ts'

if (!arePagesBuilt()) {
  // A server that builds them creates files for its own user alone. Later a service may run as another user.
  process.umask(0o022)
  // Tests build them too, and would get React's slower and larger development build.
  process.env.NODE_ENV = 'production'
  const root = join(import.meta.dirname, '..')
  const mark = sourcesOfPages()
  // Several servers may build at once, each into a folder of its own.
  const outDir = `${BUILT}-${process.pid}`
  mkdirSync(outDir, { recursive: true })
  try {
    const configFile = join(root, 'vite.config.ts')
    await build({
      configFile,
      root: join(root, 'web'),
      logLevel: 'error',
      build: { outDir, emptyOutDir: true },
    })
    writeFileSync(join(outDir, MARK), mark)
    rmSync(BUILT, { recursive: true, force: true })
    renameSync(outDir, BUILT)
    chmodSync(dirname(BUILT), 0o755)
  } finally {
    rmSync(outDir, { recursive: true, force: true })
  }
}
