import { codeOf } from '../core/error-fields.ts'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createSecureContext } from 'node:tls'
import type { Config } from '../config.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'

type Listen = Config['listen']

/** Throws if the server cannot listen on the address. Called before anything is changed. */
export async function checkAddress(listen: Listen): Promise<void> {
  const probe = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject)
      probe.listen({ host: listen.host, port: listen.port, exclusive: true }, resolve)
    })
  } catch (error) {
    throw addressProblem(error, listen)
  }
  await new Promise((resolve) => probe.close(resolve))
}

export function addressProblem(error: unknown, listen: Listen): OperatorError {
  const code = codeOf(error)
  const address = addressText(listen)
  if (code === 'EADDRINUSE') {
    return new OperatorError(
      `${address} is in use by another program, perhaps a Purser that runs already; choose another with PURSER_LISTEN`,
    )
  }
  return new OperatorError(`cannot serve at ${address}: ${reasonOf(error)}`)
}

/** Throws unless the TLS files are readable, valid, and belong together. */
export function checkTls({ tlsCert, tlsKey }: Config): void {
  if (tlsCert === undefined || tlsKey === undefined) return
  const cert = readPem('certificate', tlsCert)
  const key = readPem('key', tlsKey)
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw new OperatorError(
      `cannot use the TLS certificate ${tlsCert} with the key ${tlsKey}: ${reasonOf(error)}`,
    )
  }
}

function readPem(what: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new OperatorError(`cannot read the TLS ${what}: ${reasonOf(error)}`)
  }
}

export function addressText({ host, port }: Listen): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
