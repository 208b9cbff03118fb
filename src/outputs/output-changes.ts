import { createHash } from 'node:crypto'
import { compareBytes } from '../core/compare-bytes.ts'
import { existing } from '../core/existing.ts'
import type { Fragment } from '../jsonapi/document.ts'
import type { Page } from '../jsonapi/paging.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'
import { outputId } from './output-ids.ts'
import type { OutputText } from './output-parts.ts'
import { outputChangeFragment, type ChangedPart } from './output-preview-document.ts'
import { lengthOf, previewOf, wholeName, type Outputs } from './output-previews.ts'
import { bytesInTurn, isWhole, type PlacedStoredOutput } from './outputs.ts'
import type { ContentSource } from '../state-content/stored-content.ts'

/** The outputs of one of the two state versions. */
type Side = { readonly stateVersion: StateVersionRow; readonly outputs: Outputs }
type Named = { readonly name: string; readonly output: PlacedStoredOutput }

type OutputChanges = { fragments: Fragment[]; added: number; changed: number; removed: number }

/**
 * A page of the differences between two state versions, by name, and how many of each kind there are. Values are compared
 * as raw JSON. Sensitive values are compared but not shown.
 *
 * @param before undefined: there is no version to compare with, so every output counts as added
 */
export async function outputChanges(
  reader: ContentSource,
  before: Side | undefined,
  after: Side,
  page: Page,
): Promise<OutputChanges> {
  const counts = { added: 0, changed: 0, removed: 0 }
  const fragments: Fragment[] = []
  const old = namedOutputs(reader, before)
  const young = namedOutputs(reader, after)
  let [was, is] = [await nextOf(old), await nextOf(young)]
  while (was !== undefined || is !== undefined) {
    const order = was === undefined ? 1 : is === undefined ? -1 : compareBytes(was.name, is.name)
    const removed = order <= 0 ? was?.output : undefined
    const added = order >= 0 ? is?.output : undefined
    const differs =
      removed === undefined || added === undefined
        ? []
        : await differences(reader, [existing(before).stateVersion, removed], [after.stateVersion, added])
    if (removed === undefined || added === undefined || differs.length > 0) {
      const place = counts.added + counts.changed + counts.removed
      counts[removed === undefined ? 'added' : added === undefined ? 'removed' : 'changed'] += 1
      if (Math.floor(place / page.size) === page.number - 1) {
        const [version, output] =
          added === undefined
            ? [existing(before).stateVersion, existing(removed)]
            : [after.stateVersion, added]
        fragments.push(
          outputChangeFragment({
            id: outputId(version.output_key, output.position),
            before: removed && (await previewOf(reader, existing(before).stateVersion, removed, 'values')),
            after: added && (await previewOf(reader, after.stateVersion, added, 'values')),
            differs,
          }),
        )
      }
    }
    if (order <= 0) was = await nextOf(old)
    if (order >= 0) is = await nextOf(young)
  }
  return { fragments, ...counts }
}

async function* namedOutputs(reader: ContentSource, side: Side | undefined): AsyncGenerator<Named> {
  if (side === undefined) return
  for await (const some of side.outputs) {
    for (const output of some) {
      yield { name: await wholeName(reader, side.stateVersion, output), output }
    }
  }
}

async function nextOf(outputs: AsyncGenerator<Named>): Promise<Named | undefined> {
  const { value, done } = await outputs.next()
  return done === true ? undefined : value
}

type Versioned = readonly [StateVersionRow, PlacedStoredOutput]

async function differences(
  reader: ContentSource,
  before: Versioned,
  after: Versioned,
): Promise<ChangedPart[]> {
  const differs: ChangedPart[] = []
  if (before[1].sensitive !== after[1].sensitive) differs.push('sensitive')
  if (!(await isSame(reader, before, after, 'detailedType'))) differs.push('type')
  if (!(await isSame(reader, before, after, 'value'))) differs.push('value')
  return differs
}

async function isSame(
  reader: ContentSource,
  before: Versioned,
  after: Versioned,
  text: OutputText,
): Promise<boolean> {
  const [was, is] = [before[1], after[1]]
  if (isWhole(was) && isWhole(is)) return was[text] === is[text]
  if (lengthOf(was, text) !== lengthOf(is, text)) return false
  const [old, young] = [await hashOf(reader, before, text), await hashOf(reader, after, text)]
  return old.equals(young)
}

async function hashOf(
  reader: ContentSource,
  [version, output]: Versioned,
  text: OutputText,
): Promise<Buffer> {
  const hash = createHash('sha256')
  if (isWhole(output)) return hash.update(output[text]).digest()
  for await (const bytes of bytesInTurn(reader, version, output, text)) hash.update(bytes)
  return hash.digest()
}
