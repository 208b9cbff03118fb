import { createHash } from 'node:crypto'
import { compareBytes } from '../core/compare-bytes.ts'
import { existing } from '../core/existing.ts'
import type { Fragment } from '../jsonapi/document.ts'
import type { Page } from '../jsonapi/paging.ts'
import { outputId } from './output-ids.ts'
import type { OutputText } from './output-parts.ts'
import { outputChangeFragment, type ChangedPart } from './output-preview-document.ts'
import { lengthOf, previewOf, wholeName, type Outputs } from './output-previews.ts'
import { MAX_NAMED_OUTPUTS } from './output-reveals.ts'
import { isWhole, shownName, type PlacedStoredOutput } from './outputs.ts'

/** The outputs of one of the two state versions, and what their ids begin with. */
type Side = { readonly outputKey: string; readonly outputs: Outputs }
type Named = { readonly name: string; readonly output: PlacedStoredOutput }

type OutputChanges = {
  fragments: Fragment[]
  added: number
  changed: number
  removed: number
  /** The sensitive outputs that were compared, as many as an audit event names, and their number. */
  compared: { names: string[]; count: number }
}

/**
 * A page of the differences between two state versions, by name, and how many of each kind there are. Values are compared
 * as raw JSON. Sensitive values are compared but not shown: whoever knows one of the two values learns whether it is the
 * other one.
 *
 * @param before undefined: there is no version to compare with, so every output counts as added
 */
export async function outputChanges(
  before: Side | undefined,
  after: Side,
  page: Page,
): Promise<OutputChanges> {
  const counts = { added: 0, changed: 0, removed: 0 }
  const fragments: Fragment[] = []
  const compared = { names: [] as string[], count: 0 }
  const old = namedOutputs(before)
  const young = namedOutputs(after)
  let [was, is] = [await nextOf(old), await nextOf(young)]
  while (was !== undefined || is !== undefined) {
    const order = was === undefined ? 1 : is === undefined ? -1 : compareBytes(was.name, is.name)
    const removed = order <= 0 ? was?.output : undefined
    const added = order >= 0 ? is?.output : undefined
    if (removed !== undefined && added !== undefined && (removed.sensitive || added.sensitive)) {
      compared.count += 1
      if (compared.names.length < MAX_NAMED_OUTPUTS) compared.names.push(shownName(added))
    }
    const differs = removed === undefined || added === undefined ? [] : await differences(removed, added)
    if (removed === undefined || added === undefined || differs.length > 0) {
      const place = counts.added + counts.changed + counts.removed
      counts[removed === undefined ? 'added' : added === undefined ? 'removed' : 'changed'] += 1
      if (Math.floor(place / page.size) === page.number - 1) {
        const id =
          added === undefined
            ? outputId(existing(before).outputKey, existing(removed).position)
            : outputId(after.outputKey, added.position)
        fragments.push(
          outputChangeFragment({
            id,
            before: removed && (await previewOf(removed, 'values')),
            after: added && (await previewOf(added, 'values')),
            differs,
          }),
        )
      }
    }
    if (order <= 0) was = await nextOf(old)
    if (order >= 0) is = await nextOf(young)
  }
  return { fragments, ...counts, compared }
}

async function* namedOutputs(side: Side | undefined): AsyncGenerator<Named> {
  for await (const some of side?.outputs ?? []) {
    for (const output of some) yield { name: await wholeName(output), output }
  }
}

async function nextOf(outputs: AsyncGenerator<Named>): Promise<Named | undefined> {
  const { value, done } = await outputs.next()
  return done === true ? undefined : value
}

async function differences(before: PlacedStoredOutput, after: PlacedStoredOutput): Promise<ChangedPart[]> {
  const differs: ChangedPart[] = []
  if (before.sensitive !== after.sensitive) differs.push('sensitive')
  if (!(await isSame(before, after, 'detailedType'))) differs.push('type')
  if (!(await isSame(before, after, 'value'))) differs.push('value')
  return differs
}

async function isSame(was: PlacedStoredOutput, is: PlacedStoredOutput, text: OutputText): Promise<boolean> {
  if (isWhole(was) && isWhole(is)) return was[text] === is[text]
  if (lengthOf(was, text) !== lengthOf(is, text)) return false
  const [old, young] = [await hashOf(was, text), await hashOf(is, text)]
  return old.equals(young)
}

async function hashOf(output: PlacedStoredOutput, text: OutputText): Promise<Buffer> {
  const hash = createHash('sha256')
  if (isWhole(output)) return hash.update(output[text]).digest()
  for await (const bytes of output.bytes(text)) hash.update(bytes)
  return hash.digest()
}
