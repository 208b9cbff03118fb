import type { Piece } from '../jsonapi/later-parts.ts'
import { outputFragment, type Masking, type OutputShape } from './output-document.ts'
import type { OutputText } from './output-parts.ts'
import { isWhole, outputsInTurn, type PlacedLargeOutput } from './outputs.ts'
import type { StateVersionRow } from '../state-versions/state-version-store.ts'
import type { ContentSource } from '../state-content/stored-content.ts'

/** The resources of outputs `from` to `end` (exclusive), separated by commas. Each piece is made in its own turn. */
export async function* outputPieces(
  reader: ContentSource,
  stateVersion: StateVersionRow,
  shape: OutputShape,
  masking: Masking,
  from?: number,
  end?: number,
): AsyncGenerator<Piece> {
  const key = stateVersion.output_key
  let comma = ''
  for await (const outputs of outputsInTurn(reader, stateVersion, from, end)) {
    let text = ''
    for (const output of outputs) {
      text += comma
      comma = ','
      if (isWhole(output)) {
        text += outputFragment(key, output, shape, masking)
      } else {
        yield text
        text = ''
        yield* piecesOfLarge(key, output, shape, masking)
      }
    }
    yield text
  }
}

/** Placeholders for the texts of a large output. They contain NUL, which no JSON text contains. */
const marks: Record<OutputText, string> = {
  name: '\0name\0',
  detailedType: '\0detailedType\0',
  value: '\0value\0',
}

async function* piecesOfLarge(
  outputKey: string,
  output: PlacedLargeOutput,
  shape: OutputShape,
  masking: Masking,
): AsyncGenerator<Piece> {
  const hasHiddenShape = masking === 'values and shapes' && output.sensitive
  const { position, type, sensitive, maskedType } = output
  const marked = {
    position,
    type,
    sensitive,
    ...marks,
    ...(hasHiddenShape ? { detailedType: maskedType } : {}),
  }
  const pieces = outputFragment(outputKey, marked, shape, masking).split('\0')
  // Even pieces are text; odd pieces name a text of the large output to insert.
  for (const [place, piece] of pieces.entries()) {
    if (place % 2 === 0) yield piece
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- odd pieces are names from marks
    else yield* output.bytes(piece as OutputText)
  }
}
