/** Control characters except the line break, and characters that change the direction of text. */
// oxlint-disable-next-line no-control-regex -- those are what must not reach a terminal
const dangerous = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Makes text safe for a terminal: characters that move the cursor, change colours or the direction of text are escaped
 * as `\u001b`. JSON keeps its meaning.
 */
export function forTerminal(text: string): string {
  return text.replace(dangerous, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
