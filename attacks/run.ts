// npm run attacks: plays all attacks of this folder, or those that are named: npm run attacks -- handed-out
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { play, type Attack, type Settings } from './stage.ts'

const helpers = ['run', 'stage']
const all = readdirSync(import.meta.dirname).map((file) => basename(file, '.ts'))
const named = process.argv.slice(2)
const unknown = named.filter((name) => !all.includes(name) || helpers.includes(name))
if (unknown.length > 0) throw new Error(`there is no attack ${unknown.join(', ')}`)

for (const name of all.filter((one) => !helpers.includes(one))) {
  if (named.length > 0 && !named.includes(name)) continue
  const { attack, settings } = (await import(`./${name}.ts`)) as { attack: Attack; settings?: Settings }
  await play(name, attack, settings)
}
