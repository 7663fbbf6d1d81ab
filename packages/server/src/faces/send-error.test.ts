import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable, Writable } from 'node:stream'
import Fastify from 'fastify'
import { expect, it, vi } from 'vitest'
import { sendError, toDirectoryError } from './send-error.js'

it('a client that leaves before its stream begins is not logged as an error of the directory', async () => {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const app = Fastify({ logger: { level: 'info', stream } })
  app.setErrorHandler((error, request, reply) => sendError(toDirectoryError(error, request), request, reply, ''))
  app.post('/', async (_request, reply) => {
    client.destroy()
    await once(reply.raw, 'close')
    return reply.send(Readable.from(['part']))
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1')
  client.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
  const logged = await vi.waitFor(() => {
    const line = lines.find((each) => each.includes('request rejected'))
    expect(line).toBeDefined()
    return JSON.parse(line ?? '')
  })
  expect(logged).toMatchObject({ level: 30, code: 'internal_error' })
  await app.close()
})
