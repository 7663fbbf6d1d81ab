// Keeps a slow agent at its concurrency limit: more callers than are admitted, which honour Retry-After.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { SLOW_MS } from './agents.mjs'

let isOn = false
let callers = []
let counts

const call = (options, body) =>
  new Promise((resolve, reject) => {
    const post = request(options, (response) => {
      response.resume().on('end', () => resolve(response))
    })
    // The server may close an idle connection at the moment in which it is used again.
    const retry = (error) =>
      post.reusedSocket && error.code === 'ECONNRESET' ? resolve(call(options, body)) : reject(error)
    post.on('error', retry).end(body)
  })

async function keepCalling(options, body, afterMs) {
  await sleep(afterMs)
  while (isOn) {
    const { statusCode, headers } = await call(options, body)
    if (statusCode === 200) counts.answered++
    else if (statusCode === 503) counts.rejected++
    else throw new Error(`unexpected status ${statusCode} for the slow agent`)
    if (statusCode === 503) await sleep(Number(headers['retry-after'] ?? 1) * 1000)
  }
}

async function answer({ start }) {
  if (start) {
    const { port, path, headers, input, connections } = start
    const body = JSON.stringify(input)
    const agent = new Agent({ keepAlive: true })
    const type = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const options = { port, path, method: 'POST', agent, headers: { ...headers, ...type } }
    isOn = true
    counts = { answered: 0, rejected: 0 }
    // Start the callers at different times, as independent callers would.
    const after = (i) => (SLOW_MS * i) / connections
    callers = Array.from({ length: connections }, (_, i) => keepCalling(options, body, after(i)))
    while (counts.rejected === 0) await sleep(100)
    return {}
  }
  isOn = false
  await Promise.all(callers)
  return counts
}

process.on('message', async (message) => {
  try {
    process.send(await answer(message))
  } catch (error) {
    process.send({ error: error.stack })
  }
})
