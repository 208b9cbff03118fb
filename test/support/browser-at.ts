import { Browser } from './browser.ts'
import type { TestServer } from './server.ts'

/** A browser behind the proxy of a server with PURSER_TRUST_PROXY, at this address. */
export class BrowserAt extends Browser {
  readonly #forwarded: Record<string, string>

  constructor({ address: server }: TestServer, address: string, forwarded: Record<string, string> = {}) {
    super(server)
    this.#forwarded = { 'x-forwarded-for': address, ...forwarded }
  }

  override request(
    method: string,
    path: string,
    sent?: unknown,
    headers: Record<string, string> = { 'x-purser-page': '1', 'sec-fetch-site': 'same-origin' },
  ) {
    return super.request(method, path, sent, { ...headers, ...this.#forwarded })
  }
}
