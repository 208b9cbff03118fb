import { codeOf } from '../core/error-fields.ts'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createSecureContext } from 'node:tls'
import { environmentName, type Config } from '../config.ts'
import { addressText } from '../core/listen.ts'
import { OperatorError, reasonOf } from '../core/operator-error.ts'

type Listen = Config['listen']
type ListenSetting = 'listen' | 'metricsListen'

/** Throws if the server cannot listen on the address. Called before anything is changed. */
export async function checkAddress(listen: Listen, setting: ListenSetting): Promise<void> {
  const probe = createServer()
  try {
    await once(probe.listen({ host: listen.host, port: listen.port, exclusive: true }), 'listening')
  } catch (error) {
    throw addressProblem(error, listen, setting)
  }
  await new Promise((resolve) => probe.close(resolve))
}

export function addressProblem(error: unknown, listen: Listen, setting: ListenSetting): OperatorError {
  const code = codeOf(error)
  const address = addressText(listen)
  if (code === 'EADDRINUSE') {
    return new OperatorError(
      `${address} is in use by another program, perhaps a Purser that runs already; choose another with ${environmentName(setting)}`,
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
    const reason = reasonOf(error)
    // In PEM both forms of a key with a passphrase have this word, and OpenSSL only says "bad decrypt".
    if (key.includes('ENCRYPTED')) {
      throw new OperatorError(
        `the TLS key ${tlsKey} is encrypted with a passphrase: give one without, made by: openssl pkey -in KEY -out NEW-KEY`,
      )
    }
    const advice = reason.includes('no start line') ? ' (are certificate and key exchanged?)' : ''
    throw new OperatorError(
      `cannot use the TLS certificate ${tlsCert} with the key ${tlsKey}: ${reason}${advice}`,
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

/** Where people reach the server. */
export function servedAddress(
  { listen, tlsCert, publicUrl }: Pick<Config, 'listen' | 'tlsCert' | 'publicUrl'>,
  port = listen.port,
): string {
  if (publicUrl !== undefined) return publicUrl
  // A server that listens on all addresses is also at this one, and 0.0.0.0 is no address to open.
  const host = ['0.0.0.0', '::'].includes(listen.host) ? '127.0.0.1' : listen.host
  return `${tlsCert === undefined ? 'http' : 'https'}://${addressText({ host, port })}`
}
