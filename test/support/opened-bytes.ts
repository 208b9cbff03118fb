import { syncBuiltinESMExports } from 'node:module'
import zlib from 'node:zlib'

const original = zlib.zstdDecompressSync

/** Counts the bytes that this process decompresses: in total, and the most in one turn of the event loop. */
export class OpenedBytes {
  all = 0
  mostInTurn = 0
  #inTurn = 0

  constructor() {
    zlib.zstdDecompressSync = (...given) => {
      const plain = original(...given)
      if (this.#inTurn === 0) setImmediate(() => (this.#inTurn = 0))
      this.all += plain.length
      this.#inTurn += plain.length
      this.mostInTurn = Math.max(this.mostInTurn, this.#inTurn)
      return plain
    }
    syncBuiltinESMExports()
  }

  stop(): void {
    zlib.zstdDecompressSync = original
    syncBuiltinESMExports()
  }
}
