// The load generator. It implements HTTP/1.1 on persistent plain sockets, one request at a time on each: Node's HTTP
// clients use more CPU than the servers to measure.
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuSeconds } from './processes.mjs'

/** Warm-up time as a share of the measurement. */
const WARM_UP = 0.2

const sets = new Map()

/**
 * A set of requests, built when they are sent. `GET` sets are paths; `POST` sets are bodies, or documents, each sent with
 * a new id.
 */
function createSet({ paths, post, bodies, documents, headers = {} }) {
  const lines = Object.entries({ host: 'localhost', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  if (paths) {
    const requests = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\n${lines}\r\n`))
    return { size: requests.length, request: (i) => requests[i % requests.length], next: 0 }
  }
  const toPost = (body) =>
    `POST ${post} HTTP/1.1\r\n${lines}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  if (bodies) {
    const requests = bodies.map((body) => toPost(JSON.stringify(body)))
    return { size: requests.length, request: (i) => requests[i % requests.length], next: 0 }
  }
  const halves = documents.map(({ id: _, ...document }) => JSON.stringify(document).slice(1))
  return {
    size: Number.POSITIVE_INFINITY,
    next: 0,
    request(i) {
      const id = `bench-${process.pid}-${String(i).padStart(8, '0')}`
      return toPost(`{"id":"${id}",${halves[i % halves.length]}`)
    },
  }
}

/**
 * Uses one connection. `onResponse(status, body)` is called for each response and returns a function that builds the
 * next request, which is sent after the pause; undefined ends the connection.
 */
function converse(port, { keepBodies, pauseMs }, first, onResponse) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    let status = 0
    let missing = -1 // bytes of the body still to come; -1: the head is incomplete
    let head = ''
    let body = []

    const finish = () => {
      const next = onResponse(status, keepBodies ? Buffer.concat(body).toString() : undefined)
      missing = -1
      head = ''
      body = []
      if (next === undefined) socket.end(resolve)
      else if (pauseMs > 0) setTimeout(() => socket.write(next()), pauseMs)
      else socket.write(next())
    }

    socket.on('data', (chunk) => {
      let rest = chunk
      if (missing < 0) {
        const before = head.length
        head += chunk.latin1Slice(0, Math.min(chunk.length, 4096))
        const end = head.indexOf('\r\n\r\n')
        if (end < 0) return
        status = Number(head.slice(9, 12))
        const length = /\r\ncontent-length: (\d+)/i.exec(head)
        if (!length && status !== 204) return void socket.destroy(new Error(`response without Content-Length: ${head}`))
        missing = length ? Number(length[1]) : 0
        rest = chunk.subarray(end + 4 - before)
      }
      missing -= rest.length
      if (keepBodies) body.push(rest)
      if (missing === 0) finish()
    })
    socket.on('error', reject)
    socket.on('close', (failed) => !failed && resolve())
    socket.on('connect', () => socket.write(first()))
  })
}

/**
 * Sends requests of a set for a time or a number of requests. With a pause between a response and the next request, the
 * connections start at different times.
 */
async function run({ set: name, port, pid, connections, seconds, count, collect, pauseMs = 0 }) {
  const set = sets.get(name)
  const last = count === undefined ? Number.POSITIVE_INFINITY : set.next + count
  const first = set.next
  const bodies = []
  const latencies = []
  let total = 0
  let failed = 0
  let failure

  const cpu = cpuSeconds(pid)
  const ownCpu = process.cpuUsage()
  const machineCpu = machineSeconds()
  const started = performance.now()
  const from = seconds === undefined ? started : started + seconds * WARM_UP * 1000
  const until = seconds === undefined ? Number.POSITIVE_INFINITY : from + seconds * 1000
  let ended = until

  const talk = async (_, i) => {
    if (pauseMs > 0) await sleep((pauseMs * i) / connections)
    if (set.next >= last) return
    let at = set.next++
    let sent = 0
    const send = () => {
      sent = performance.now()
      return set.request(at)
    }
    await converse(port, { keepBodies: collect !== undefined, pauseMs }, send, (status, body) => {
      const now = performance.now()
      total++
      if (status < 200 || status > 299) {
        failed++
        failure = status
      }
      if (now >= from && now <= until) latencies.push(now - sent)
      if (collect) bodies[at - first] = body
      if (now > until || set.next >= last) {
        if (seconds === undefined) ended = now
        return undefined
      }
      at = set.next++
      return send
    })
  }
  await Promise.all(Array.from({ length: connections }, talk))
  if (collect) writeFileSync(collect, bodies.join('\n'))

  const took = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(ownCpu)
  const own = (user + system) / 1e6
  const server = (cpuSeconds(pid) ?? Number.NaN) - (cpu ?? Number.NaN)
  const machine = machineSeconds() - machineCpu
  latencies.sort((a, b) => a - b)
  return {
    perSecond: latencies.length / ((ended - from) / 1000),
    p50: latencies[Math.floor(latencies.length * 0.5)],
    p99: latencies[Math.floor(latencies.length * 0.99)],
    cpuMicros: Number.isNaN(server) ? undefined : (server * 1e6) / total,
    /** Share of a core that this process used; near 1 it is the bottleneck. */
    loadCpu: own / took,
    /** Cores used by other processes. */
    others: Number.isNaN(server) ? undefined : Math.max(0, (machine - server - own) / took),
    failed,
    failure,
  }
}

/** CPU time of all cores, in seconds. */
const machineSeconds = () =>
  cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000

process.on('message', async (message) => {
  try {
    if (message.add) {
      sets.set(message.add, createSet(JSON.parse(readFileSync(message.file, 'utf8'))))
      process.send({ added: message.add })
    } else process.send(await run(message))
  } catch (error) {
    process.send({ error: error.stack })
  }
})
