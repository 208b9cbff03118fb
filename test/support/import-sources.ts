import { HttpSource } from '../../src/import/http-source.ts'
import { Unreadable } from '../../src/import/records.ts'
import { SourceClient } from '../../src/import/source-client.ts'

const clientOf = (address: string, token: string, signal: AbortSignal) => {
  const pause = () => Promise.resolve()
  return new SourceClient({ from: address, token, isInsecureAllowed: false, signal, pause })
}

export function sourceOf(address: string, token: string): HttpSource {
  return new HttpSource(clientOf(address, token, new AbortController().signal))
}

/** Interrupts the import when it requests the content of the second state. */
export class InterruptedSource extends HttpSource {
  readonly #controller: AbortController
  #count = 0

  constructor(address: string, token: string, controller: AbortController) {
    super(clientOf(address, token, controller.signal))
    this.#controller = controller
  }

  override content(...given: Parameters<HttpSource['content']>): Promise<void> {
    this.#count += 1
    if (this.#count === 2) this.#controller.abort()
    return super.content(...given)
  }
}

/** Has additional objects that this server refuses, wholly or partly. */
export class OddSource extends HttpSource {
  constructor(address: string, token: string) {
    super(clientOf(address, token, new AbortController().signal))
  }

  override async organizations(names: readonly string[]) {
    const records = await super.organizations(names)
    const change = { 'collaborator-auth-policy': 'two_factor_mandatory' }
    return records.map((one) => ({ ...one, attributes: { ...one.attributes, ...change } }))
  }

  override async teams(...given: Parameters<HttpSource['teams']>) {
    const odd = { id: 'team-odd', name: 'odd', attributes: { visibility: 'sometimes' } }
    const without = { id: 'team-without', name: 'without', attributes: { 'sso-team-id': 7 } }
    return [...(await super.teams(...given)), odd, without]
  }

  override async workspaces(...given: Parameters<HttpSource['workspaces']>) {
    const name = 'tagged'
    const tagBindings = [{ key: '', value: 'x' }]
    const plain = { id: 'ws-odd', projectId: null, tagNames: [], isLocked: false, attributes: {} }
    return [...(await super.workspaces(...given)), { ...plain, name, tagBindings }]
  }
}

/** Refuses to return JSON states. */
export class WithoutJsonStates extends HttpSource {
  constructor(address: string, token: string) {
    super(clientOf(address, token, new AbortController().signal))
  }

  override content(...given: Parameters<HttpSource['content']>): Promise<void> {
    return given[1] === 'jsonState' ? Promise.reject(new Unreadable('it is hidden')) : super.content(...given)
  }
}
