// npm run dev: serves demo data from its own folder, and restarts at every change of the sources.
import { spawnSync } from 'node:child_process'

process.env.PURSER_DATA ||= 'data/dev'
process.env.PURSER_LOG ||= 'debug'
// The server restarts at every change, so it must not wait for connections.
process.env.PURSER_DRAIN_SECONDS ||= '0'

const { status } = spawnSync(process.execPath, ['src/main.ts', 'seed'], { stdio: 'inherit' })
if (status !== 0) process.exit(1)

const watch = ['--watch', '--watch-preserve-output']
const command = [process.execPath, ...watch, 'src/main.ts', 'serve', ...process.argv.slice(2)]
// Replaces this process, so that signals reach the server directly.
process.execve?.(process.execPath, command, process.env)
