import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type CollectGarbage = (options: { type: 'major'; flavor: 'last-resort' }) => void

/**
 * Gives back what loading the program took: 20 MB that would stay until the heap is full, for 40 ms once. The collector
 * can only be called where a flag has made it visible, so it is made visible to one context that is thrown away.
 */
export function returnUnusedMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as CollectGarbage
  collect({ type: 'major', flavor: 'last-resort' })
}
