import { shortName } from './output-names.ts'
import { lengthsOf, sealParts, type LargeOutput } from './output-parts.ts'
import { maskedType, type OutputType } from './output-types.ts'
import type { StateOutput } from './outputs-collector.ts'
import { decodeString } from './raw-json.ts'
import { openPiece, sealPiece, type PieceAddress } from './state-crypto.ts'

/** Outputs of one stored block, and about the bytes of its text: one row, compressed and encrypted as a whole. */
export const BLOCK_OUTPUTS = 256
export const BLOCK_BYTES = 256 * 1024

/** An output as a block has it: whole, or only what is to be known of it before its parts are read. */
export type StoredOutput = StateOutput | LargeOutput

/** Outputs from `firstPosition` on, as the bytes to be sealed. */
export type OutputBlock = { firstPosition: number; count: number; bytes: Uint8Array }

/** A row: a block (part 0), or a part of the large output at `firstPosition`. */
export type SealedOutputBlock = { firstPosition: number; part: number; sealed: Uint8Array<ArrayBuffer> }

/** All rows of a state version's outputs, which come in byte order of their names; none for no outputs. */
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
const types: readonly OutputType[] = ['string', 'number', 'boolean', 'array', 'object']

/** Packs outputs, in order, into blocks. Of a large one a block has a few words. */
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

/** Whether an output is stored in parts of its own. */
function isLarge({ name, value, detailedType }: StateOutput): boolean {
  return name.length + value.length + detailedType.length > BLOCK_BYTES
}

/** Four lines for each output: raw JSON text holds no line breaks once the whitespace between tokens has gone. */
function linesOf(output: StateOutput): string[] {
  const { name, detailedType, value } = output
  const mark = `${types.indexOf(output.type)}${output.sensitive ? 's' : ''}`
  if (!isLarge(output)) return [mark, name, detailedType, value]
  const short = JSON.stringify(shortName(decodeString(name)))
  return [`${mark}${LARGE}`, short, maskedType(detailedType), JSON.stringify(lengthsOf(output))]
}

/** At the end of a large output's first line. */
const LARGE = '+'

/** The outputs of a block, in order. */
export function unpackOutputs(bytes: Uint8Array): StoredOutput[] {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split('\n')
  const outputs: StoredOutput[] = []
  for (let at = 0; at < lines.length; at += LINES) {
    const [mark, name, detailedType, value] = lines.slice(at, at + LINES) as [string, string, string, string]
    const kind = { type: types[Number(mark[0])] as OutputType, sensitive: mark[1] === 's' }
    if (!mark.endsWith(LARGE)) outputs.push({ name, value, detailedType, ...kind })
    else outputs.push({ ...kind, shortName: name, maskedType: detailedType, lengths: JSON.parse(value) })
  }
  return outputs
}
