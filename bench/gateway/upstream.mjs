// The agent that receives all calls: node upstream.mjs PORT. It implements HTTP/1.1 on plain sockets, because it shares
// the machine with the servers to measure and should use little CPU.
//   POST /agent   a constant response
//   POST /slow    the same, after SLOW_MS
//   POST /stream  server-sent events: {"events": count, "every": milliseconds between events, or 0}
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { ANSWER, SLOW_MS, toEvent } from './agents.mjs'

const [port] = process.argv.slice(2)

const body = JSON.stringify(ANSWER)
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
)
const streamHead = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'
const streamEnd = '0\r\n\r\n'
const toChunk = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
/** Events in one write at full speed. */
const EVENTS_A_WRITE = 20

async function stream(socket, { events, every }) {
  if (every > 0) {
    socket.write(streamHead + toChunk(toEvent(0)))
    for (let i = 1; i < events && !socket.destroyed; i++) {
      await sleep(every)
      socket.write(toChunk(toEvent(i)))
    }
    socket.write(streamEnd)
    return
  }
  let head = streamHead
  for (let i = 0; i < events && !socket.destroyed; i += EVENTS_A_WRITE) {
    const some = Array.from({ length: Math.min(EVENTS_A_WRITE, events - i) }, (_, j) => toChunk(toEvent(i + j)))
    const isTaken = socket.write(head + some.join(''))
    head = ''
    if (!isTaken) await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
  }
  socket.write(streamEnd)
}

function reply(socket, path, text) {
  if (path === '/stream') stream(socket, JSON.parse(text))
  else if (path === '/slow') setTimeout(() => socket.write(answer), SLOW_MS)
  else socket.write(answer)
}

const server = createServer({ noDelay: true }, (socket) => {
  let waiting = Buffer.alloc(0)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
    for (;;) {
      const end = waiting.indexOf('\r\n\r\n')
      if (end < 0) return
      const head = waiting.latin1Slice(0, end)
      const length = /\r\ncontent-length: *(\d+)/i.exec(head)
      if (!length) throw new Error(`request without Content-Length: ${head}`)
      const next = end + 4 + Number(length[1])
      if (waiting.length < next) return
      const text = waiting.utf8Slice(end + 4, next)
      waiting = waiting.subarray(next)
      reply(socket, head.split(' ', 2)[1], text)
    }
  })
})
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`upstream ready on ${port}\n`))
