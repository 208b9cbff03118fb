// npm run dev: demo data in a folder of its own, served, and again at every change of the sources.
import { spawnSync } from 'node:child_process'

process.env.PURSER_DATA ||= 'data/dev'
process.env.PURSER_LOG ||= 'debug'
// Every change of a file ends the server.
process.env.PURSER_DRAIN_SECONDS ||= '0'

const { status } = spawnSync(process.execPath, ['src/main.ts', 'seed'], { stdio: 'inherit' })
if (status !== 0) process.exit(1)

const watch = ['--watch', '--watch-preserve-output']
const command = [process.execPath, ...watch, 'src/main.ts', 'serve', ...process.argv.slice(2)]
// This process becomes the other one, so that signals need nobody to pass them on.
process.execve?.(process.execPath, command, process.env)
