import { randomBytes, timingSafeEqual } from 'node:crypto'
import { TooManyAttempts, type Problem } from '../core/errors.ts'
import { networksAround } from '../core/networks.ts'
import { HashThreads } from './hash-threads.ts'
import { isTooShort, normalized, passwordProblems } from './users.ts'

/** Parameters are stored with each hash, so that they can be raised later. Hashing needs 19 MiB while it runs. */
const PARAMETERS = { memory: 19_456, passes: 2, parallelism: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32
const CURRENT = `argon2id$${PARAMETERS.memory}$${PARAMETERS.passes}$${PARAMETERS.parallelism}$`

/** Each keeps a thread busy for some hundredths of a second. */
const MAX_RUNNING = 2
/** Of known devices, and as many of unknown clients, who so never take a place of a device. */
const MAX_WAITING = 20
/** Of unknown clients: of an IPv4 address, or of the first 48 bits of an IPv6 address. */
const MAX_WAITING_FROM_NETWORK = 10
/** Guesses at one account, or somebody who has one, leave places to others. */
const MAX_WAITING_FOR_ACCOUNT = 2
const RETRY_AFTER_SECONDS = 5

/** A password that a user wants to have. */
type NewPassword = { readonly hash: string; readonly problems: readonly Problem[] }

/** Whether the hash was made with other parameters than those of today. */
export function isOutdated(stored: string): boolean {
  return !stored.startsWith(CURRENT)
}

/** In place of the hash of a user who does not exist. No password has it. */
const NOBODY =
  CURRENT + [SALT_BYTES, HASH_BYTES].map((size) => randomBytes(size).toString('base64')).join('$')

/** Where a request with a password comes from, and for which account. */
export type Asker = {
  readonly address: string
  /** As it was named, or the id of the user. */
  readonly account: string
  /** What the account is known to use: a device, a session or a token. Undefined: an unknown client. */
  readonly device?: string | undefined
}

type Waiting = Asker & { readonly go: () => void }

/** Hashes and checks passwords, few at a time, those of known devices first. Throws 429 if too many wait. */
export class Passwords {
  #running = 0
  readonly #known: Waiting[] = []
  readonly #unknown: Waiting[] = []
  readonly #threads = new HashThreads()

  /** Hashes a new password, unless it is easy to guess. A short one is a problem of the body. */
  async forNew(password: string, asker: Asker): Promise<NewPassword> {
    const problems = isTooShort(password) ? [] : passwordProblems(password)
    return this.#inTurn(asker, async () => {
      if (await this.#threads.judge(normalized(password))) {
        const detail = 'password is one of the most common ones, or easy to guess from them; choose another'
        problems.push({ detail, pointer: '/data/attributes/password' })
      }
      return { hash: problems.length > 0 ? '' : await this.#hash(password), problems }
    })
  }

  /** Returns what is stored for a password: `argon2id$memory in KiB$passes$parallelism$salt$hash`. */
  hash(password: string, asker: Asker): Promise<string> {
    return this.#inTurn(asker, () => this.#hash(password))
  }

  /** Whether the password has this hash. It takes as long without a hash, for a user who does not exist. */
  matches(password: string, stored: string | null, asker: Asker): Promise<boolean> {
    return this.#inTurn(asker, () => this.#isHashOf(password, stored ?? NOBODY))
  }

  close(): Promise<void> {
    return this.#threads.close()
  }

  async #hash(password: string): Promise<string> {
    const salt = randomBytes(SALT_BYTES)
    const key = await this.#keyOf(password, salt, PARAMETERS)
    return `${CURRENT}${salt.toString('base64')}$${key.toString('base64')}`
  }

  /** @param stored a hash of any parameters */
  async #isHashOf(password: string, stored: string): Promise<boolean> {
    const [, memory, passes, parallelism, salt = '', hash = ''] = stored.split('$')
    const key = await this.#keyOf(password, Buffer.from(salt, 'base64'), {
      memory: Number(memory),
      passes: Number(passes),
      parallelism: Number(parallelism),
    })
    return timingSafeEqual(key, Buffer.from(hash, 'base64'))
  }

  #keyOf(password: string, nonce: Buffer, parameters: typeof PARAMETERS): Promise<Buffer> {
    const message = Buffer.from(normalized(password))
    return this.#threads.hash({ message, nonce, ...parameters, tagLength: HASH_BYTES })
  }

  async #inTurn<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    if (this.#running >= MAX_RUNNING) {
      const waiting = asker.device === undefined ? this.#unknown : this.#known
      checkWaiting(waiting, asker)
      await new Promise<void>((go) => waiting.push({ ...asker, go }))
    } else this.#running += 1
    try {
      return await work()
    } finally {
      const next = this.#known.shift() ?? this.#unknown.shift()
      if (next === undefined) this.#running -= 1
      else next.go()
    }
  }
}

function checkWaiting(waiting: readonly Waiting[], { address, account, device }: Asker): void {
  const network = networksAround(address).at(-1)
  const fromNetwork = waiting.filter((other) => networksAround(other.address).at(-1) === network)
  const forAccount = waiting.filter((other) => other.account === account)
  if (
    waiting.length >= MAX_WAITING ||
    forAccount.length >= MAX_WAITING_FOR_ACCOUNT ||
    (device === undefined && fromNetwork.length >= MAX_WAITING_FROM_NETWORK)
  ) {
    throw new TooManyAttempts('too many people sign in at the moment', RETRY_AFTER_SECONDS)
  }
}
