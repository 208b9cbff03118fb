import pino from 'pino'
import type { SettingName } from '../src/config.ts'
import { startServer, type TestServer } from '../test/support/server.ts'
import type { Response } from '../test/support/client.ts'

/**
 * Says what one step of an attack gave the attacker.
 *
 * @param before what the attacker got before this was fixed
 */
export type Show = (step: string, before: string | number, now: string | number) => void

/** An attack on a server of its own. Each file of this folder except this one and run.ts exports one as `attack`. */
export type Attack = (server: TestServer, show: Show) => Promise<void>

/** The settings of the server, which a file of this folder may export as `settings`. */
export type Settings = Partial<Record<SettingName, string>>

/** Plays an attack against a new server on a loopback address, with its data in a temporary folder. */
export async function play(name: string, attack: Attack, settings: Settings = {}): Promise<void> {
  console.log(`\n${name}`)
  const server = await startServer('sqlite', settings, pino({ level: 'silent' }))
  try {
    await attack(server, (step, before, now) => console.log(`  ${step}: before ${before}, now ${now}`))
  } finally {
    await server.stop()
  }
}

/** The browser of a person. It sends what a page of the server sends. */
export class Visitor {
  readonly #server: TestServer
  cookie = ''

  constructor(server: TestServer) {
    this.#server = server
  }

  request(method: string, path: string, type?: string, attributes: object = {}): Promise<Response> {
    const body = type === undefined ? undefined : { data: { type, attributes } }
    const headers = { 'x-purser-page': '1', 'sec-fetch-site': 'same-origin', cookie: this.cookie }
    return this.#server.client().request(method, path, body, headers)
  }

  /** Signs in, and keeps the cookie if that is permitted. */
  async signIn(attributes: object): Promise<Response> {
    const answer = await this.request('POST', '/sessions', 'sessions', attributes)
    this.cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? this.cookie
    return answer
  }
}
