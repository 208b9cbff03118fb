import type { OutputType } from './output-types.ts'
import type { StateOutput } from './outputs-collector.ts'
import { openPiece, sealPiece } from './state-crypto.ts'

/** Outputs of one stored block, and about the bytes of its text: one row, compressed and encrypted as a whole. */
export const BLOCK_OUTPUTS = 256
export const BLOCK_BYTES = 256 * 1024

/** Outputs from `firstPosition` on, as the bytes to be sealed. */
export type OutputBlock = { firstPosition: number; count: number; bytes: Uint8Array }

/** The same as it is stored. */
export type SealedOutputBlock = { firstPosition: number; count: number; sealed: Uint8Array<ArrayBuffer> }

/** All blocks of a state version's outputs, which come in byte order of their names; none for no outputs. */
export function sealOutputs(
  dataKey: Uint8Array,
  stateVersionId: string,
  outputs: readonly StateOutput[],
): SealedOutputBlock[] {
  return Array.from(packOutputs(outputs), ({ firstPosition, count, bytes }) => {
    const address = { stateVersionId, kind: 'outputs', number: firstPosition } as const
    const isLast = firstPosition + count === outputs.length
    return { firstPosition, count, sealed: sealPiece(dataKey, address, isLast, bytes) }
  })
}

/** The outputs of one stored block, in order. Throws SealError. */
export function openOutputs(
  dataKey: Uint8Array,
  stateVersionId: string,
  block: Pick<SealedOutputBlock, 'firstPosition'> & { sealed: Uint8Array },
): StateOutput[] {
  const address = { stateVersionId, kind: 'outputs', number: block.firstPosition } as const
  return unpackOutputs(openPiece(dataKey, address, block.sealed).plain)
}

const LINES = 4
const types: readonly OutputType[] = ['string', 'number', 'boolean', 'array', 'object']

/** Packs outputs, in order, into blocks. One that is larger than a block gets a block of its own. */
export function* packOutputs(outputs: readonly StateOutput[]): Generator<OutputBlock> {
  let first = 0
  let size = 0
  for (const [position, { name, value, detailedType }] of outputs.entries()) {
    const length = name.length + value.length + detailedType.length
    if (position > first && (position - first === BLOCK_OUTPUTS || size + length > BLOCK_BYTES)) {
      yield packBlock(outputs, first, position)
      first = position
      size = 0
    }
    size += length
  }
  if (outputs.length > first) yield packBlock(outputs, first, outputs.length)
}

/** Four lines for each output: raw JSON text holds no line breaks once the whitespace between tokens has gone. */
function packBlock(outputs: readonly StateOutput[], first: number, end: number): OutputBlock {
  const lines: string[] = []
  for (const output of outputs.slice(first, end)) {
    const mark = `${types.indexOf(output.type)}${output.sensitive ? 's' : ''}`
    lines.push(mark, output.name, output.detailedType, output.value)
  }
  return { firstPosition: first, count: end - first, bytes: Buffer.from(lines.join('\n')) }
}

/** The outputs of a block, in order. */
export function unpackOutputs(bytes: Uint8Array): StateOutput[] {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString().split('\n')
  const outputs: StateOutput[] = []
  for (let at = 0; at < lines.length; at += LINES) {
    const [mark, name, detailedType, value] = lines.slice(at, at + LINES) as [string, string, string, string]
    const type = types[Number(mark[0])] as OutputType
    outputs.push({ name, value, type, detailedType, sensitive: mark.endsWith('s') })
  }
  return outputs
}
