import { Agent, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

/** Sends requests at intervals until told to stop. A separate thread: a busy test must not look like a busy server. */
const { url, token, everyMs } = workerData as { url: string; token: string; everyMs: number }
const agent = new Agent({ keepAlive: true })
const times: number[] = []
let failures = 0

function ask(): void {
  const began = performance.now()
  const asked = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
    response.resume()
    response.on('end', () => {
      if (response.statusCode !== 200) failures++
      if (times.push(performance.now() - began) === 1) parentPort?.postMessage('ready', [])
    })
  })
  asked.on('error', () => failures++)
  asked.end()
}

ask()
const timer = setInterval(ask, everyMs)
parentPort?.once('message', () => {
  clearInterval(timer)
  setTimeout(() => {
    parentPort?.postMessage({ times, failures }, [])
    agent.destroy()
  }, 300)
})
