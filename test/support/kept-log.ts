import pino, { type Logger } from 'pino'

type Line = { readonly msg: string; readonly error?: { readonly message: string } }

/** A log of warnings and errors for a server, and the lines that it has so far. */
export function keptLog(): { log: Logger; lines: Line[] } {
  const lines: Line[] = []
  const serializers = { error: ({ message }: Error) => ({ message }) }
  const write = (line: string) => void lines.push(JSON.parse(line))
  return { log: pino({ level: 'warn', base: {}, serializers }, { write }), lines }
}
