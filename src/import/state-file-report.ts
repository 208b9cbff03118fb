import { printable } from './records.ts'
import type { StateFile } from './state-files.ts'

/** What became of a file. `there`: an earlier run has copied it. `outputs` is null if the state is encrypted. */
export type FileResult =
  | { readonly result: 'copied' | 'there'; readonly serial: number; readonly outputs: number | null }
  | { readonly result: 'not-copied'; readonly reason: string }

type Entry = { readonly file: string; readonly workspace: string } & FileResult

/** The result of `purser import --states FOLDER`: a line for each file, in the order of their paths. */
export class StateFileReport {
  readonly #folder: string
  readonly #organization: string
  readonly #isDryRun: boolean
  readonly #entries: Entry[] = []
  readonly #notes: string[] = []
  isInterrupted = false

  constructor(folder: string, organization: string, isDryRun: boolean) {
    this.#folder = folder
    this.#organization = organization
    this.#isDryRun = isDryRun
  }

  add({ path, workspace }: StateFile, result: FileResult): void {
    this.#entries.push({ file: printable(path), workspace: printable(workspace), ...result })
  }

  note(text: string): void {
    this.#notes.push(text)
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  get isWhole(): boolean {
    return !this.isInterrupted && this.#count('not-copied') === 0
  }

  #count(result: FileResult['result']): number {
    return this.#entries.filter((entry) => entry.result === result).length
  }

  /** Entries are added in the order in which their work ends. */
  #sorted(): Entry[] {
    return this.#entries.toSorted((a, b) => (a.file < b.file ? -1 : 1))
  }

  toJson(): object {
    return {
      folder: this.#folder,
      organization: this.#organization,
      'dry-run': this.#isDryRun,
      interrupted: this.isInterrupted,
      files: this.#sorted(),
      notes: this.#notes,
    }
  }

  /** The rows of a table: file, workspace, result. */
  rows(): string[][] {
    return this.#sorted().map((entry) => [entry.file, entry.workspace, this.#wordsOf(entry)])
  }

  /** What is said after the rows. */
  remarks(): string[] {
    const [copied, there, not] = [this.#count('copied'), this.#count('there'), this.#count('not-copied')]
    const verb = this.#isDryRun ? 'would be copied' : 'copied'
    return [...this.#notes, `${copied} ${verb}, ${there} there already, ${not} not copied`]
  }

  #wordsOf(entry: Entry): string {
    const would = this.#isDryRun ? 'would be ' : ''
    if (entry.result === 'not-copied') {
      // A server refuses with a line for each problem.
      return `${this.#isDryRun ? 'would not be' : 'not'} copied: ${printable(entry.reason.replaceAll('\n', '; '))}`
    }
    const outputs =
      entry.outputs === null
        ? 'encrypted: its outputs cannot be read here'
        : `${entry.outputs} ${entry.outputs === 1 ? 'output' : 'outputs'}`
    return `${entry.result === 'there' ? 'there already' : `${would}copied`}, serial ${entry.serial}, ${outputs}`
  }
}
