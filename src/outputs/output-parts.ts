import type { SealedOutputBlock } from './output-blocks.ts'
import type { OutputType } from '../state-file/output-types.ts'
import type { StateOutput } from '../state-file/outputs-collector.ts'
import { openPiece, sealPiece, SealError, type PieceAddress } from '../state-versions/state-crypto.ts'

/** Bytes of a large output's texts in one row, before compression. A reader opens this much at once. */
export const PART_BYTES = 256 * 1024

/** The raw JSON texts of an output, in the order in which its parts store them. */
export const outputTexts = ['name', 'detailedType', 'value'] as const
export type OutputText = (typeof outputTexts)[number]

/** The description of a large output, known without reading its parts. */
export type LargeOutput = {
  type: OutputType
  sensitive: boolean
  /** The name for the audit trail, cut, as JSON text. */
  shortName: string
  /** The type to show while the value is masked. */
  maskedType: string
  /** Bytes of each text. */
  lengths: Record<OutputText, number>
}

export function lengthsOf(output: StateOutput): LargeOutput['lengths'] {
  const { name, detailedType, value } = output
  return {
    name: Buffer.byteLength(name),
    detailedType: Buffer.byteLength(detailedType),
    value: Buffer.byteLength(value),
  }
}

function sumOf({ name, detailedType, value }: LargeOutput['lengths']): number {
  return name + detailedType + value
}

/** The texts of an output, concatenated. */
function bytesOf(output: StateOutput): Buffer {
  const bytes = Buffer.allocUnsafeSlow(sumOf(lengthsOf(output)))
  let at = 0
  for (const text of outputTexts) at += bytes.write(output[text], at)
  return bytes
}

/** The rows with the parts of the large output at `position`. */
export function sealParts(
  dataKey: Uint8Array,
  stateVersionId: string,
  position: number,
  output: StateOutput,
): SealedOutputBlock[] {
  const bytes = bytesOf(output)
  return Array.from({ length: Math.ceil(bytes.length / PART_BYTES) }, (_, place) => {
    const [part, end] = [place + 1, (place + 1) * PART_BYTES]
    const plain = bytes.subarray(end - PART_BYTES, end)
    const address = partAddress(stateVersionId, position, part)
    return { firstPosition: position, part, sealed: sealPiece(dataKey, address, end >= bytes.length, plain) }
  })
}

/** The byte ranges, in stored parts, that make up one text of a large output. */
export function runsOf(
  { lengths }: LargeOutput,
  text: OutputText,
): { part: number; start: number; end: number }[] {
  const before = outputTexts
    .slice(0, outputTexts.indexOf(text))
    .reduce((sum, other) => sum + lengths[other], 0)
  const last = before + lengths[text]
  const runs = []
  for (let at = before; at < last;) {
    const start = at % PART_BYTES
    const end = Math.min(PART_BYTES, start + last - at)
    runs.push({ part: Math.floor(at / PART_BYTES) + 1, start, end })
    at += end - start
  }
  return runs
}

/** The bytes of one part. Throws SealError if it is another part or has the wrong length. */
export function openPart(
  dataKey: Uint8Array,
  stateVersionId: string,
  position: number,
  part: number,
  { lengths }: LargeOutput,
  sealed: Uint8Array,
): Uint8Array {
  const { plain } = openPiece(dataKey, partAddress(stateVersionId, position, part), sealed)
  const length = Math.min(PART_BYTES, sumOf(lengths) - (part - 1) * PART_BYTES)
  if (plain.length === length) return plain
  throw new SealError(`Part ${part} of output ${position} has ${plain.length} bytes and not ${length}`)
}

function partAddress(stateVersionId: string, position: number, part: number): PieceAddress {
  return { stateVersionId, kind: `output ${position}`, uploadId: null, number: part }
}
