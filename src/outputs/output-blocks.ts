import { existing } from '../core/existing.ts'
import { shortName } from '../state-file/output-names.ts'
import { lengthsOf, sealParts, type LargeOutput } from './output-parts.ts'
import { maskedType, outputTypes } from '../state-file/output-types.ts'
import type { StateOutput } from '../state-file/outputs-collector.ts'
import { decodeString } from '../state-file/raw-json.ts'
import { openPiece, sealPiece, type PieceAddress } from '../state-versions/state-crypto.ts'

/** Limits of a stored block (one compressed, encrypted row): number of outputs, and approximate bytes of text. */
const BLOCK_OUTPUTS = 256
export const BLOCK_BYTES = 256 * 1024

/** An output in a block: complete, or for a large one only its description without the parts. */
export type StoredOutput = StateOutput | LargeOutput

/** Consecutive outputs from `firstPosition` on, as the bytes to seal. */
type OutputBlock = { firstPosition: number; count: number; bytes: Uint8Array }

/** A row: a block (part 0), or one part of the large output at `firstPosition`. */
export type SealedOutputBlock = { firstPosition: number; part: number; sealed: Uint8Array<ArrayBuffer> }

/**
 * All rows for the outputs of a state version, which must be sorted by the bytes of their names. No outputs, no rows.
 */
export function sealOutputs(
  dataKey: Uint8Array,
  stateVersionId: string,
  outputs: readonly StateOutput[],
): SealedOutputBlock[] {
  const rows: SealedOutputBlock[] = []
  for (const { firstPosition, count, bytes } of packOutputs(outputs)) {
    const end = firstPosition + count
    const address = blockAddress(stateVersionId, firstPosition)
    rows.push({ firstPosition, part: 0, sealed: sealPiece(dataKey, address, end === outputs.length, bytes) })
    for (const [place, output] of outputs.slice(firstPosition, end).entries()) {
      if (isLarge(output)) rows.push(...sealParts(dataKey, stateVersionId, firstPosition + place, output))
    }
  }
  return rows
}

/** The outputs of one stored block, in order. Throws SealError. */
export function openOutputs(
  dataKey: Uint8Array,
  stateVersionId: string,
  block: Pick<SealedOutputBlock, 'firstPosition'> & { sealed: Uint8Array },
): StoredOutput[] {
  const address = blockAddress(stateVersionId, block.firstPosition)
  return unpackOutputs(openPiece(dataKey, address, block.sealed).plain)
}

function blockAddress(stateVersionId: string, firstPosition: number): PieceAddress {
  return { stateVersionId, kind: 'outputs', uploadId: null, number: firstPosition }
}

const LINES = 4

/** Packs outputs into blocks, in order. A large output puts only its description into the block. */
export function* packOutputs(outputs: readonly StateOutput[]): Generator<OutputBlock> {
  let first = 0
  let size = 0
  let lines: string[] = []
  for (const [position, output] of outputs.entries()) {
    const own = linesOf(output)
    const length = own.reduce((sum, line) => sum + line.length, 0)
    if (position > first && (position - first === BLOCK_OUTPUTS || size + length > BLOCK_BYTES)) {
      yield { firstPosition: first, count: position - first, bytes: Buffer.from(lines.join('\n')) }
      first = position
      size = 0
      lines = []
    }
    size += length
    lines.push(...own)
  }
  const count = outputs.length - first
  if (count > 0) yield { firstPosition: first, count, bytes: Buffer.from(lines.join('\n')) }
}

/** Whether an output is stored in separate parts. */
function isLarge({ name, value, detailedType }: StateOutput): boolean {
  return name.length + value.length + detailedType.length > BLOCK_BYTES
}

/** Four lines for each output. Raw JSON without white space between tokens has no line breaks, so they can separate. */
function linesOf(output: StateOutput): string[] {
  const { name, detailedType, value } = output
  const mark = `${outputTypes.indexOf(output.type)}${output.sensitive ? 's' : ''}`
  if (!isLarge(output)) return [mark, name, detailedType, value]
  const short = JSON.stringify(shortName(decodeString(name)))
  return [`${mark}${LARGE}`, short, maskedType(detailedType), JSON.stringify(lengthsOf(output))]
}

/** Ends the first line of a large output. */
const LARGE = '+'

/** The outputs of a block, in order. */
export function unpackOutputs(bytes: Uint8Array): StoredOutput[] {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split('\n')
  const outputs: StoredOutput[] = []
  for (let at = 0; at < lines.length; at += LINES) {
    const [mark = '', name = '', detailedType = '', value = ''] = lines.slice(at, at + LINES)
    const kind = { type: existing(outputTypes[Number(mark[0])]), sensitive: mark[1] === 's' }
    if (!mark.endsWith(LARGE)) outputs.push({ name, value, detailedType, ...kind })
    else outputs.push({ ...kind, shortName: name, maskedType: detailedType, lengths: JSON.parse(value) })
  }
  return outputs
}
