'use strict'

const fs = require('fs')
const { enableCompileCache } = require('module')
const os = require('os')
const path = require('path')
const { spawn, spawnSync } = require('child_process')
const { pathToFileURL } = require('url')
const { fail, say } = require('./basics.cjs')

/** The same signal again so soon is the same one, by another way. */
const ONE_SIGNAL_MS = 500
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** Tells the program that a launcher waits at the other end of its channel. */
const LAUNCHED = 'PURSER_LAUNCHED'

function prependPath(folder) {
  const key = Object.keys(process.env).find((name) => /^path$/i.test(name)) || 'PATH'
  const folders = (process.env[key] || '').split(path.delimiter)
  if (folders[0] !== folder) process.env[key] = [folder, ...folders].join(path.delimiter)
}

/**
 * Runs a program to its end, passes it our signals, and calls `ended` with its exit code
 * and with the signal, if we got one. The program has a process group of its own: Ctrl-C in a terminal
 * goes to everyone in the foreground group, and npm passes it on a second time.
 */
function runToEnd(command, args, options, ended) {
  const child = spawn(command, args, { detached: process.platform !== 'win32', ...options })
  const passed = []
  let last = 0
  const pass = (signal) => {
    const now = performance.now()
    if (passed.at(-1) === signal && now - last < ONE_SIGNAL_MS) return
    last = now
    passed.push(signal)
    child.kill(signal)
  }
  for (const signal of SIGNALS) process.on(signal, pass)
  child.on('error', (error) => fail(`cannot run ${command}: ${error.message}`))
  child.on('exit', (code, signal) => {
    for (const name of SIGNALS) process.off(name, pass)
    ended(signal ? 128 + os.constants.signals[signal] : code, passed[0])
  })
}

function runChild(node, args) {
  const env = { ...process.env, [LAUNCHED]: '1' }
  runToEnd(node, args, { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] }, (code) => process.exit(code))
}

/**
 * Fills the cache of compiled code in a process of its own: one that compiles keeps the memory which that took, some
 * 20 MB, and a server runs for long.
 */
function compile(entry, cache) {
  say('compiling, once …')
  const urlOf = (file) => JSON.stringify(pathToFileURL(file).href)
  const files = ['app', 'serve', 'database/sqlite'].map((name) =>
    path.join(path.dirname(entry), name + path.extname(entry)),
  )
  const imports = [...files, entry].map((file) => `await import(${urlOf(file)})`)
  // The program itself comes last: it says its version and ends.
  const program = `process.argv = ['', '', '--version']; ${imports.join('; ')}`
  const env = { ...process.env, NODE_COMPILE_CACHE: cache }
  spawnSync(process.execPath, ['--input-type=module', '--eval', program], { env, stdio: 'ignore' })
}

function runHere(root, entry, args) {
  if (!fs.existsSync(entry)) fail(`there is no ${entry}`)
  if (process.env[LAUNCHED] && process.channel) {
    delete process.env[LAUNCHED]
    // A launcher that is killed outright must not leave its program behind.
    process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
    process.channel.unref()
  }
  const cache = path.join(root, 'node_modules', '.cache', 'node')
  if (entry.endsWith('.ts') && args[0] === 'serve' && !fs.existsSync(cache)) compile(entry, cache)
  enableCompileCache(cache)
  process.argv = [process.argv[0], entry, ...args]
  void import(pathToFileURL(entry).href)
}

module.exports = { prependPath, runToEnd, runChild, runHere }
