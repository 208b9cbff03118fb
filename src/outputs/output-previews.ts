import type { Fragment } from '../jsonapi/document.ts'
import type { Page } from '../jsonapi/paging.ts'
import { MAX_AUDITED_NAME } from '../state-file/output-names.ts'
import { maskedType } from '../state-file/output-types.ts'
import { decodeString } from '../state-file/raw-json.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'
import type { Masking } from './output-document.ts'
import { outputId } from './output-ids.ts'
import type { OutputText } from './output-parts.ts'
import { outputPreviewFragment, type OutputPreview } from './output-preview-document.ts'
import { isWhole, shownName, type PlacedStoredOutput } from './outputs.ts'

/** Characters of a value's raw JSON that a preview shows. A longer type is shown as its kind. */
export const PREVIEW_CHARACTERS = 4_096
const MAX_BYTES_OF_A_CHARACTER = 3

/** The outputs of a state version in order, one stored block after the other. */
export type Outputs =
  | AsyncIterable<readonly PlacedStoredOutput[]>
  | readonly (readonly PlacedStoredOutput[])[]

/** Hides the value of a sensitive output, and its shape if `masking` says so. */
export async function previewOf(output: PlacedStoredOutput, masking: Masking): Promise<OutputPreview> {
  const { sensitive, type } = output
  const hasHiddenType =
    (sensitive && masking === 'values and shapes') || lengthOf(output, 'detailedType') > PREVIEW_CHARACTERS
  return {
    name: shownName(output),
    sensitive,
    type,
    detailedType: !hasHiddenType
      ? await startOf(output, 'detailedType')
      : isWhole(output)
        ? maskedType(output.detailedType)
        : output.maskedType,
    text: sensitive ? null : await startOf(output, 'value'),
    bytes: sensitive ? null : lengthOf(output, 'value'),
  }
}

/** A page of the outputs whose name contains `sought`, ignoring case. `outputs` are all of the version, or of the page. */
export async function previewPage(
  stateVersion: StateVersionRow,
  outputs: Outputs,
  { sought, masking, page }: { sought: string | undefined; masking: Masking; page: Page },
): Promise<{ fragments: Fragment[]; total: number }> {
  const first = (page.number - 1) * page.size
  const fragments: Fragment[] = []
  let found = 0
  for await (const some of outputs) {
    for (const output of some) {
      if (sought !== undefined) {
        const name = await wholeName(output)
        if (!name.toLowerCase().includes(sought)) continue
      }
      const place = sought === undefined ? output.position : found
      found += 1
      if (place < first || place >= first + page.size) continue
      const preview = await previewOf(output, masking)
      const id = outputId(stateVersion.output_key, output.position)
      // Who may not read the values learns nothing about the versions.
      const version = masking === 'values' ? stateVersion.id : undefined
      fragments.push(outputPreviewFragment(id, preview, version))
    }
  }
  return { fragments, total: sought === undefined ? stateVersion.outputs_count : found }
}

export async function wholeName(output: PlacedStoredOutput): Promise<string> {
  if (isWhole(output)) return decodeString(output.name)
  // So short a name was not cut, and no part has to be opened for it.
  if (output.lengths.name <= MAX_AUDITED_NAME) return shownName(output)
  const pieces: Uint8Array[] = []
  for await (const piece of output.bytes('name')) pieces.push(piece)
  return decodeString(Buffer.concat(pieces).toString())
}

/** Bytes of one text of an output. */
export function lengthOf(output: PlacedStoredOutput, text: OutputText): number {
  return isWhole(output) ? Buffer.byteLength(output[text]) : output.lengths[text]
}

/** The first characters of one text of an output. */
async function startOf(output: PlacedStoredOutput, text: OutputText): Promise<string> {
  if (isWhole(output)) return cut(output[text])
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of output.bytes(text)) {
    pieces.push(piece)
    length += piece.length
    if (length >= PREVIEW_CHARACTERS * MAX_BYTES_OF_A_CHARACTER) break
  }
  // In this mode the decoder leaves out a character whose last bytes are missing.
  return cut(new TextDecoder().decode(Buffer.concat(pieces), { stream: true }))
}

/** Never leaves half of a surrogate pair at the end. */
function cut(text: string): string {
  if (text.length <= PREVIEW_CHARACTERS) return text
  const isPair = /[\uD800-\uDBFF]/.test(text.charAt(PREVIEW_CHARACTERS - 1))
  return text.slice(0, PREVIEW_CHARACTERS - (isPair ? 1 : 0))
}
