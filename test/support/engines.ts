import { randomBytes } from 'node:crypto'
import { Client } from 'pg'

export type Engine = 'sqlite' | 'postgres'

const postgresUrl = process.env.PURSER_TEST_POSTGRES_URL

/** Every test of HTTP runs on each: PostgreSQL where PURSER_TEST_POSTGRES_URL names a server to make databases on. */
export const engines: readonly Engine[] = postgresUrl === undefined ? ['sqlite'] : ['sqlite', 'postgres']

export async function createPostgresDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `purser_test_${randomBytes(6).toString('hex')}`
  await onServer(`create database ${name}`)
  const url = new URL(postgresUrl as string)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => onServer(`drop database if exists ${name} with (force)`) }
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: postgresUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
