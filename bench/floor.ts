// The floor: a node:http server that hashes the bearer token, does two indexed SQLite reads and sends fixed bytes.
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
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
const folder = mkdtempSync(join(tmpdir(), 'purser-floor-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
process.once('SIGTERM', () => process.exit(0))

const path = join(folder, 'floor.sqlite')
const writer = new DatabaseSync(path)
writer.exec(`pragma journal_mode = wal;
create table tokens (id text primary key, hash text not null unique, user_id text not null, expires_at text not null);
create table teams (id text primary key, name text not null, version integer not null, visibility text not null);
begin`)
const insertToken = writer.prepare('insert or replace into tokens values (?, ?, ?, ?)')
const insertTeam = writer.prepare('insert into teams values (?, ?, ?, ?)')
for (let number = 0; number < ROWS; number += 1) {
  insertToken.run(`at-${number}`, hash('sha256', `token ${number}`), `user-${number}`, '9999')
  insertTeam.run(`team-${number}`, `team-${number}`, 1, 'secret')
}
writer.exec('commit')

const reader = new DatabaseSync(path, { readOnly: true })
const findToken = reader.prepare('select id, user_id, expires_at from tokens where hash = ?')
const findTeam = reader.prepare('select id, name, version, visibility from teams where id = ?')

let answer: FloorAnswer = { token: '', status: 200, headers: {}, body: '', isBare: true }
let body = Buffer.alloc(0)

const server = createServer((request, response) => {
  if (!answer.isBare) {
    const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
    const found = findToken.get(hash('sha256', token, 'hex'))
    if (found === undefined || findTeam.get('team-500') === undefined) {
      response.writeHead(401).end()
      return
    }
  }
  response.writeHead(answer.status, answer.headers)
  response.end(body)
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
    insertToken.run('at-500', hash('sha256', next.token), 'user-500', '9999')
  },
  usage: async () => {
    const { user, system } = process.cpuUsage()
    return { cpu: user + system }
  },
})
