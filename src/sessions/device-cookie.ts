import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto'
import { randomBase58 } from '../core/ids.ts'
import { cookieOf, setCookie, type Asking } from './session-cookie.ts'

const NAME = 'purser-devices'
/** Accounts that one browser is known to. A further one takes the place of the oldest. */
const MAX_ACCOUNTS = 5
const DEVICE_LENGTH = 22
const MAX_LENGTH = 1_000
const LIFE_SECONDS = 365 * 86_400

/** That somebody has signed in to an account with this browser: `user id.device.seconds.signature`. */
type Entry = {
  readonly userId: string
  readonly device: string
  readonly madeAt: string
  readonly mac: string
}

/** A user as far as a device belongs to them: it ends with the password. */
type Owner = { readonly id: string; readonly password_hash: string | null }

/**
 * Knows browsers in which a person has signed in before, by a cookie that they keep. It opens nothing. Its browser has places
 * of its own where passwords wait to be hashed, and pauses of its own, so strangers who guess do not keep its user away.
 */
export class DeviceCookies {
  readonly #key: KeyObject

  constructor(secretKey: Uint8Array) {
    this.#key = createSecretKey(Buffer.from(hkdfSync('sha256', secretKey, '', 'purser device cookies', 32)))
  }

  /** Whether the request says that its browser is known to somebody. */
  isGiven(call: Asking): boolean {
    return entriesOf(call).length > 0
  }

  /** The device, if it is known to this user. It takes as long for nobody. */
  deviceOf(call: Asking, owner: Owner | undefined, now: Date): string | undefined {
    const { id, password_hash } = owner ?? { id: '', password_hash: null }
    const own = entriesOf(call).filter((entry) => {
      const isSigned = timingSafeEqual(
        Buffer.from(this.#macOf(entry, password_hash ?? '')),
        Buffer.from(entry.mac),
      )
      const age = now.getTime() / 1_000 - Number(entry.madeAt)
      return isSigned && entry.userId === id && password_hash !== null && age < LIFE_SECONDS
    })
    return own[0]?.device
  }

  /** The Set-Cookie header of a sign-in. Accounts that the browser is known to besides stay. */
  of(call: Asking, owner: Owner, now: Date): string {
    const others = entriesOf(call).filter(({ userId }) => userId !== owner.id)
    const fresh = {
      userId: owner.id,
      device: randomBase58(DEVICE_LENGTH),
      madeAt: String(Math.floor(now.getTime() / 1_000)),
    }
    const own = { ...fresh, mac: this.#macOf(fresh, owner.password_hash ?? '') }
    const value = [own, ...others.slice(0, MAX_ACCOUNTS - 1)].map(textOf).join('~')
    return setCookie(call.origin, NAME, value, LIFE_SECONDS, 'Strict')
  }

  #macOf({ userId, device, madeAt }: Omit<Entry, 'mac'>, passwordHash: string): string {
    const text = JSON.stringify([userId, device, madeAt, passwordHash])
    return createHmac('sha256', this.#key).update(text).digest('base64url')
  }
}

const form = /^(user-\w{16})\.([\w-]{22})\.(\d{1,12})\.([\w-]{43})$/

function entriesOf(call: Asking): Entry[] {
  const texts = cookieOf(call, NAME, MAX_LENGTH)?.split('~', MAX_ACCOUNTS) ?? []
  return texts.flatMap((text) => {
    const [, userId, device, madeAt, mac] = form.exec(text) ?? []
    if (userId === undefined || device === undefined || madeAt === undefined || mac === undefined) return []
    return [{ userId, device, madeAt, mac }]
  })
}

function textOf({ userId, device, madeAt, mac }: Entry): string {
  return [userId, device, madeAt, mac].join('.')
}
