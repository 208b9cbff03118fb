import { OperatorError } from '../core/operator-error.ts'
import { printable } from './records.ts'

const kinds = [
  'organizations',
  'projects',
  'teams',
  'workspaces',
  'users',
  'memberships',
  'team members',
  'team-projects',
  'team-workspaces',
  'remote state consumers',
  'state versions',
] as const
export type Kind = (typeof kinds)[number]

type Counts = Partial<Record<Kind, number>>
type Copy = { name: string; as: string; copied: Counts; there: Counts }
type Entry = { organization: string; kind: Kind | 'tokens' | 'locks'; name: string; reason: string }

/** The result for everything that the source has. */
export class Report {
  readonly from: string
  readonly isDryRun: boolean
  readonly organizations: Copy[] = []
  /** Objects that were not copied although they could be, whatever the reason. */
  readonly notCopied: Entry[] = []
  /** Things that can never be copied: tokens and locks. */
  readonly leftBehind: Entry[] = []
  readonly notes: string[] = []
  isInterrupted = false
  /** Why it ended early by itself. */
  failure: string | undefined
  #current: Copy = { name: '', as: '', copied: {}, there: {} }

  constructor(from: string, isDryRun: boolean) {
    this.from = from
    this.isDryRun = isDryRun
  }

  begin(name: string, as: string): void {
    this.#current = { name, as, copied: {}, there: {} }
    this.organizations.push(this.#current)
  }

  copied(kind: Kind, count = 1): void {
    this.#current.copied[kind] = (this.#current.copied[kind] ?? 0) + count
  }

  /** Copied objects of the current organization, by kind. */
  get copiedNow(): Counts {
    return this.#current.copied
  }

  there(kind: Kind, count = 1): void {
    this.#current.there[kind] = (this.#current.there[kind] ?? 0) + count
  }

  missing(kind: Kind, name: string, reason: string): void {
    this.notCopied.push(this.#entry(kind, name, reason))
  }

  left(kind: 'tokens' | 'locks', name: string, reason: string): void {
    this.leftBehind.push(this.#entry(kind, name, reason))
  }

  note(text: string): void {
    this.notes.push(printable(`${this.#current.as}: ${text}`))
  }

  /** Ends the report early. What was copied before is complete and is reported; if nothing was, the error is thrown. */
  endedBy(error: unknown, signal: AbortSignal): void {
    // After the signal any error of the source's connection is only a consequence.
    if (signal.aborted) this.isInterrupted = true
    else if (error instanceof OperatorError && this.#hasBegun()) this.failure = printable(error.message)
    else throw error
  }

  #hasBegun(): boolean {
    return this.organizations.some(({ copied, there }) => Object.keys({ ...copied, ...there }).length > 0)
  }

  #entry(kind: Entry['kind'], name: string, reason: string): Entry {
    // A server refuses with a line for each problem.
    const line = printable(reason.replaceAll('\n', '; '))
    return { organization: this.#current.name, kind, name: printable(name), reason: line }
  }

  toJson(): object {
    return {
      from: this.from,
      'dry-run': this.isDryRun,
      interrupted: this.isInterrupted,
      failure: this.failure ?? null,
      organizations: this.organizations,
      'not-copied': this.notCopied,
      'left-behind': this.leftBehind,
      notes: this.notes,
    }
  }

  /** The report as text. */
  lines(): string[] {
    const verb = this.isDryRun ? 'would be copied' : 'copied'
    const lines = this.organizations.flatMap(({ name, as, copied, there }) => [
      `${name}${as === name ? '' : ` as ${as}`}:`,
      ...kinds.flatMap((kind) => {
        const [now = 0, before = 0] = [copied[kind], there[kind]]
        if (now + before === 0) return []
        return [`  ${kind}: ${now} ${verb}${before === 0 ? '' : `, ${before} there already`}`]
      }),
    ])
    if (this.notCopied.length > 0) {
      lines.push(this.isDryRun ? 'would not be copied:' : 'not copied:', ...this.notCopied.map(lineOf))
    }
    if (this.leftBehind.length > 0) {
      lines.push('cannot be copied; create them again where they are needed:', ...this.leftBehind.map(lineOf))
    }
    return [...lines, ...this.notes]
  }
}

function lineOf({ organization, kind, name, reason }: Entry): string {
  return `  ${organization}, ${kind}, ${name}: ${reason}`
}
