// The floor: a node:http server that hashes the bearer token, reads one or two rows by it and sends fixed bytes.
import { executionAsyncResource } from 'node:async_hooks'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Pool } from 'pg'
import { answerQuestions } from './child.ts'

export type FloorAnswer = {
  token: string
  status: number
  headers: Record<string, string>
  body: string
  /** Bare: answers without the hash and the reads. */
  isBare: boolean
}

const ROWS = 1_000

/** The rows that a request reads. */
type Floor = { hasToken: (hash: string) => boolean | Promise<boolean>; putToken: (hash: string) => unknown }

const hashes = Array.from({ length: ROWS }, (_, number) => hash('sha256', `token ${number}`))

/** Two indexed reads, of a token and of a team. */
function sqliteFloor(): Floor {
  const folder = mkdtempSync(join(tmpdir(), 'purser-floor-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'floor.sqlite')
  const writer = new DatabaseSync(path)
  writer.exec(`pragma journal_mode = wal;
create table tokens (id text primary key, hash text not null unique, user_id text not null, expires_at text not null);
create table teams (id text primary key, name text not null, version integer not null, visibility text not null);
begin`)
  const insertToken = writer.prepare('insert or replace into tokens values (?, ?, ?, ?)')
  const insertTeam = writer.prepare('insert into teams values (?, ?, ?, ?)')
  for (const [number, text] of hashes.entries()) {
    insertToken.run(`at-${number}`, text, `user-${number}`, '9999')
    insertTeam.run(`team-${number}`, `team-${number}`, 1, 'secret')
  }
  writer.exec('commit')
  const reader = new DatabaseSync(path, { readOnly: true })
  const findToken = reader.prepare('select id, user_id, expires_at from tokens where hash = ?')
  const findTeam = reader.prepare('select id, name, version, visibility from teams where id = ?')
  return {
    hasToken: (text) => findToken.get(text) !== undefined && findTeam.get('team-500') !== undefined,
    putToken: (text) => insertToken.run('at-500', text, 'user-500', '9999'),
  }
}

/** One named read of a token through a pool of ten connections. */
async function postgresFloor(): Promise<Floor> {
  const pool = new Pool({ connectionString: process.env['PURSER_TEST_POSTGRES_URL'], max: 10, min: 10 })
  await pool.query(`drop schema if exists bench_floor cascade;
create schema bench_floor;
create table bench_floor.tokens (id text primary key, hash text not null unique, user_id text not null, expires_at text not null)`)
  const insert = 'insert into bench_floor.tokens values ($1, $2, $3, $4)'
  for (const [number, text] of hashes.entries()) {
    await pool.query(insert, [`at-${number}`, text, `user-${number}`, '9999'])
  }
  const query = {
    name: 'find-token',
    text: 'select id, user_id, expires_at from bench_floor.tokens where hash = $1',
  }
  return {
    hasToken: async (text) => (await pool.query({ ...query, values: [text] })).rows.length === 1,
    putToken: (text) => pool.query('update bench_floor.tokens set hash = $1 where id = $2', [text, 'at-500']),
  }
}

// As in src/http/server.ts: without it the floor is slower after it was idle.
const kept: object[] = []
process.nextTick(() => kept.push(executionAsyncResource()))

const floor = process.argv[2] === 'postgres' ? await postgresFloor() : sqliteFloor()
process.once('SIGTERM', () => process.exit(0))

let answer: FloorAnswer = { token: '', status: 200, headers: {}, body: '', isBare: true }
let body = Buffer.alloc(0)

const server = createServer((request, response) => {
  const send = (isKnown: boolean) => {
    if (isKnown) response.writeHead(answer.status, answer.headers).end(body)
    else response.writeHead(401).end()
  }
  if (answer.isBare) {
    send(true)
    return
  }
  const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
  const isKnown = floor.hasToken(hash('sha256', token, 'hex'))
  // Not awaited on SQLite: its floor answers within the turn.
  if (typeof isKnown === 'boolean') send(isKnown)
  else void isKnown.then(send)
})
server.keepAliveTimeout = 72_000

answerQuestions({
  listen: () =>
    new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    }),
  answer: async (next: FloorAnswer) => {
    answer = next
    body = Buffer.from(next.body)
    await floor.putToken(hash('sha256', next.token))
  },
  usage: async () => {
    const { user, system } = process.cpuUsage()
    return { cpu: user + system }
  },
})
