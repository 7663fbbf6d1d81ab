// Reads streams on plain sockets. Counts events by a marker character instead of parsing them.
import { connect } from 'node:net'
import { cpuSeconds } from '../registry/processes.mjs'
import { EVENT_MARKER } from './agents.mjs'

const LAST_CHUNK = Buffer.from('0\r\n\r\n')
/** Idle timeout of a stream, in milliseconds. */
const IDLE_TIMEOUT_MS = 20_000

/** Reads streams on one connection, one after the other. */
function readStreams(port, request, streams, report) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true).setTimeout(IDLE_TIMEOUT_MS)
    let left = streams
    let events = 0
    let sent = 0
    let tail = Buffer.alloc(0)

    const send = () => {
      events = 0
      tail = Buffer.alloc(0)
      sent = performance.now()
      socket.write(request)
    }
    const onData = (chunk) => {
      const before = events
      for (let at = chunk.indexOf(EVENT_MARKER); at >= 0; at = chunk.indexOf(EVENT_MARKER, at + 1)) events++
      if (before === 0 && events > 0) report.first(performance.now() - sent)
      tail = Buffer.concat([tail, chunk.subarray(-LAST_CHUNK.length)]).subarray(-LAST_CHUNK.length)
      if (!tail.equals(LAST_CHUNK)) return
      report.ended(events)
      events = 0
      if (--left > 0) send()
      else socket.end()
    }
    socket.on('connect', send).on('data', onData)
    socket.on('timeout', () => socket.destroy())
    socket.on('error', () => {})
    socket.on('close', () => {
      if (events > 0) report.ended(events)
      resolve()
    })
  })
}

async function run({ port, pid, path, headers, input, connections, streams }) {
  const body = JSON.stringify(input)
  const lines = Object.entries({ host: 'localhost', accept: 'text/event-stream', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const request = `POST ${path} HTTP/1.1\r\n${lines}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const delays = []
  let delivered = 0
  const report = {
    first: (ms) => delays.push(ms),
    ended(events) {
      delivered += events
    },
  }

  const cpu = cpuSeconds(pid)
  const ownCpu = process.cpuUsage()
  const started = performance.now()
  await Promise.all(Array.from({ length: connections }, () => readStreams(port, request, streams, report)))
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(ownCpu)
  const server = (cpuSeconds(pid) ?? Number.NaN) - (cpu ?? Number.NaN)
  delays.sort((a, b) => a - b)
  return {
    /** Events per second. */
    perSecond: delivered / seconds,
    cpuMicros: Number.isNaN(server) ? undefined : (server * 1e6) / delivered,
    /** Milliseconds from the request to the first event. */
    p50: delays[Math.floor(delays.length * 0.5)],
    p99: delays[Math.floor(delays.length * 0.99)],
    loadCpu: (user + system) / 1e6 / seconds,
    failed: connections * streams * input.events - delivered,
    failure: 'missing events',
  }
}

process.on('message', async (message) => {
  try {
    process.send(await run(message))
  } catch (error) {
    process.send({ error: error.stack })
  }
})
