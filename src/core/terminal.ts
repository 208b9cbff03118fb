/** Control characters but the end of a line, and those that turn the direction of text around. */
// oxlint-disable-next-line no-control-regex -- those are what must not reach a terminal
const dangerous = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Text for a terminal: a character that moves the cursor, colours the screen or turns the text around stands there as
 * `\u001b`. JSON stays the same JSON.
 */
export function forTerminal(text: string): string {
  return text.replace(dangerous, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
