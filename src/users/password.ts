import { randomBytes, scrypt } from 'node:crypto'

/** Stored with each hash, so that they can be raised later. Hashing needs 32 MiB of memory while it runs. */
const COST = 2 ** 15
const BLOCK_SIZE = 8
const PARALLELISM = 3
const MAX_MEMORY_BYTES = 64 * 1024 * 1024
const SALT_BYTES = 16
const HASH_BYTES = 32

/** Returns what is stored for a password: `scrypt$cost$block size$parallelism$salt$hash`. */
export function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const options = { N: COST, r: BLOCK_SIZE, p: PARALLELISM, maxmem: MAX_MEMORY_BYTES }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, hash) => {
      if (error !== null) reject(error)
      else {
        const parts = [COST, BLOCK_SIZE, PARALLELISM, salt.toString('base64'), hash.toString('base64')]
        resolve(`scrypt$${parts.join('$')}`)
      }
    })
  })
}
