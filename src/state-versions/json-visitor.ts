/** What to do with a value that begins: visit what is directly in it, keep its text, note its place, or only check it. */
export type Interest = 'open' | 'capture' | 'place' | 'skip'

/** Told of the document itself and of every value directly inside an object or array that it opened. */
export type JsonVisitor = {
  /**
   * `name` is the member's name as raw JSON text, quotes included (in an array and for the document it says nothing),
   * `first` the value's first byte.
   */
  begin(name: string, first: number): Interest
  /**
   * The raw text of a value without the whitespace between its tokens, empty where only its place was asked for; `start` and
   * `end` are its bytes in the file.
   */
  captured(text: string, start: number, end: number): void
  /** The innermost opened object or array has ended. */
  end(): void
}
