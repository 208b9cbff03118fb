'use strict'

const fs = require('fs')
const path = require('path')
const { say } = require('./basics.cjs')

const HEARTBEAT_MS = 1_000
/** Without a heartbeat for so long its holder is gone. Not the pid decides: another container counts its own. */
const STALE_MS = 10_000
const RETRY_MS = 200

/** Calls `then(release)` when this process alone holds the folder `lock`, however long that takes. */
function takeLock(lock, then) {
  if (tryToTake(lock)) {
    hold(lock, then)
    return
  }
  say(`waiting for another start that is installing (process ${holder(lock)}) …`)
  const timer = setInterval(() => {
    if (!tryToTake(lock)) return
    clearInterval(timer)
    hold(lock, then)
  }, RETRY_MS)
}

function tryToTake(lock) {
  try {
    fs.mkdirSync(lock)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    return removeIfStale(lock) && tryToTake(lock)
  }
}

function hold(lock, then) {
  fs.writeFileSync(path.join(lock, 'pid'), String(process.pid))
  const heartbeat = setInterval(() => fs.utimes(lock, new Date(), new Date(), () => {}), HEARTBEAT_MS)
  const release = () => {
    clearInterval(heartbeat)
    process.off('exit', release)
    fs.rmSync(lock, { recursive: true, force: true })
  }
  process.on('exit', release)
  then(release)
}

function holder(lock) {
  try {
    return fs.readFileSync(path.join(lock, 'pid'), 'utf8')
  } catch {
    return 'unknown'
  }
}

function removeIfStale(lock) {
  try {
    const seen = fs.statSync(lock)
    if (Date.now() - seen.mtimeMs < STALE_MS) return false
    // Renamed first: of several waiters only one gets the folder, and it must be the folder that was stale.
    const aside = `${lock}.${process.pid}`
    fs.renameSync(lock, aside)
    if (fs.statSync(aside).ino === seen.ino) {
      fs.rmSync(aside, { recursive: true, force: true })
      return true
    }
    fs.renameSync(aside, lock)
    return false
  } catch (error) {
    if (error.code === 'ENOENT') return true
    throw error
  }
}

module.exports = { takeLock }
