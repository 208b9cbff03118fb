// npm run dev: serves from a data folder of its own, and starts again at every change of the sources.
process.env.PURSER_DATA ||= 'data/dev'
process.env.PURSER_LOG ||= 'debug'

const watch = ['--watch', '--watch-preserve-output']
const command = [process.execPath, ...watch, 'src/main.ts', 'serve', ...process.argv.slice(2)]
// This process becomes the other one, so that signals need nobody to pass them on.
process.execve?.(process.execPath, command, process.env)
