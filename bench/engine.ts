// The engine to measure. With --engine postgres the run starts once more beside a PostgreSQL cluster of its own.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { readConfig, type Config } from '../src/config.ts'
import type { Engine } from '../src/database/portable.ts'

/** Only protects temporary data. */
export const secretKey = '0123456789abcdef'.repeat(4)

const databaseUrl = process.env['PURSER_TEST_POSTGRES_URL']

/** The settings of the measured server. */
export function configOf(engine: Engine, folder: string): Config {
  const url = engine === 'postgres' ? { databaseUrl } : {}
  return readConfig({ data: folder, secretKey, ...url }, {})
}

/** The same settings as environment variables. */
export function environmentOf(engine: Engine, folder: string): NodeJS.ProcessEnv {
  const url = engine === 'postgres' ? { PURSER_DATABASE_URL: databaseUrl } : {}
  return { PURSER_DATA: folder, PURSER_SECRET_KEY: secretKey, ...url }
}

/** The engine, once its database is there. Otherwise runs the benchmark beside a new, durable cluster, and exits. */
export function engineOf(name: string): Engine {
  if (name === 'sqlite') return name
  if (name !== 'postgres') {
    console.error(`--engine must be sqlite or postgres, not ${name}`)
    return process.exit(2)
  }
  if (databaseUrl !== undefined) return name
  const withPostgres = fileURLToPath(new URL('../scripts/with-postgres', import.meta.url))
  const { status } = spawnSync('bash', [withPostgres, process.execPath, ...process.argv.slice(1)], {
    stdio: 'inherit',
    env: { ...process.env, PURSER_TEST_POSTGRES_DURABLE: '1' },
  })
  return process.exit(status ?? 1)
}
