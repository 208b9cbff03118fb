// npm run docs: writes the pages that are printed from the sources.
import { writeFileSync } from 'node:fs'
import { settingsPage } from './settings-page.ts'

const pages = { 'docs/settings.md': settingsPage }

for (const [file, page] of Object.entries(pages)) {
  writeFileSync(file, page())
  process.stdout.write(`docs: ${file}\n`)
}
