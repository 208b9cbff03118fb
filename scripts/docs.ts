// npm run docs: writes the generated pages. Some come from the sources, others from tests against a running server.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { accessPage } from './access-sums.ts'
import { openApiPage } from './openapi-page.ts'
import { permissionsPage } from './permissions-page.ts'
import { settingsPage } from './settings-page.ts'

const pages = {
  'docs/settings.md': settingsPage,
  'docs/openapi.json': openApiPage,
  'docs/reference/permissions.md': permissionsPage,
  'docs/access.md': () => accessPage(readFileSync('docs/access.md', 'utf8')),
}
const printingTests = ['test/access-matrix.test.ts', 'test/compatibility.test.ts']

for (const [file, page] of Object.entries(pages)) {
  writeFileSync(file, page())
  process.stdout.write(`docs: ${file}\n`)
}
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...printingTests], {
  stdio: 'inherit',
  env: { ...process.env, PURSER_TEST_UPDATE: '1' },
})
process.exitCode = status ?? 1
