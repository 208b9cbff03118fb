import { once } from 'node:events'
import type { Server } from 'node:net'

/** Resolves with the port when it is open; the system chooses one for 0. Rejects with the system's error. */
export async function listenOn(server: Server, host: string, port: number): Promise<number> {
  server.listen({ host, port })
  await once(server, 'listening')
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}

export function addressText({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
