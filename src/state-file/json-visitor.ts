/**
 * How to read a value: `open` visits its direct children, `capture` returns its text, `place` its position, `skip` only
 * validates it.
 */
export type Interest = 'open' | 'capture' | 'place' | 'skip'

/** Called for the document itself and for each direct child of an opened object or array. */
export type JsonVisitor = {
  /**
   * @param name the member's name as raw JSON text with quotes; meaningless in an array and for the document itself
   * @param first the first byte of the value
   */
  begin(name: string, first: number): Interest
  /**
   * @param text the raw JSON text without white space between tokens; empty if only the place was requested
   * @param start offset of the value in the file, in bytes
   * @param end offset just after the value, in bytes
   */
  captured(text: string, start: number, end: number): void
  /** The object or array that was opened last has ended. */
  end(): void
}
