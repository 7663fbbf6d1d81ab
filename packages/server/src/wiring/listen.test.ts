import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, expect, it } from 'vitest'
import { limitConnections } from '../faces/limit-connections.js'
import { type Listening, listenOn } from './listen.js'

let app: FastifyInstance
let listening: Listening
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  listening.close()
  await app.close()
})

const isServed = async (host: string): Promise<boolean> => {
  const socket = connect(Number(new URL(listening.url).port), host)
  sockets.push(socket)
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const [chunk] = await Promise.race([once(socket, 'data'), once(socket, 'close')])
  return String(chunk).startsWith('HTTP/1.1 200')
}

// Other addresses of the loopback network stand for ::1, which not every machine has. Only Linux has them all.
it.skipIf(process.platform !== 'linux')(
  'localhost is served on all its addresses, and the limit of connections counts them together',
  async () => {
    app = Fastify()
    app.get('/', () => 'here')
    limitConnections(app.server, { max: 3, maxPerAddress: undefined, stallTimeoutMs: 60_000 }, app.log)
    const addresses = ['127.0.0.1', '127.0.0.2', '192.0.2.1']
    listening = await listenOn(app, { host: 'localhost', port: 0 }, async () => addresses)
    expect(await isServed('127.0.0.1')).toBe(true)
    expect(await isServed('127.0.0.2')).toBe(true)
    expect(await isServed('127.0.0.2')).toBe(true)
    expect(await isServed('127.0.0.2')).toBe(false)
    expect(await isServed('127.0.0.1')).toBe(false)
  },
)

it('localhost is resolved; another host is used as it is', async () => {
  app = Fastify()
  app.get('/', () => 'here')
  listening = await listenOn(app, { host: 'localhost', port: 0 })
  expect((await fetch(listening.url)).status).toBe(200)
  listening.close()
  await app.close()
  app = Fastify()
  app.get('/', () => 'here')
  listening = await listenOn(app, { host: '127.0.0.1', port: 0 }, () => Promise.reject(new Error('not resolved')))
  expect((await fetch(listening.url)).status).toBe(200)
})
