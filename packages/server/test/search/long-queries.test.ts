import { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({ search: { embedder: 'none' } })
})
afterAll(() => directory.close())

/** Sends requests at once over one connection; returns in which turn of the event loop each is answered. */
async function turnsOf(query: string, count: number): Promise<number[]> {
  let turn = 0
  const tick = (): void => {
    turn++
    timer = setImmediate(tick)
  }
  let timer = setImmediate(tick)
  const turns: number[] = []
  const writeHead = ServerResponse.prototype.writeHead
  const spy = vi.spyOn(ServerResponse.prototype, 'writeHead').mockImplementation(function (
    this: ServerResponse,
    ...args
  ) {
    turns.push(turn)
    return writeHead.apply(this, args)
  })
  const body = JSON.stringify({ query })
  const { hostname, port } = new URL(directory.url)
  const socket = connect(Number(port), hostname)
  const head = `POST /agents/search HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${directory.adminKey}\r\n`
  const request = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  socket.write(request.repeat(count))
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  await expect.poll(() => received.split('HTTP/1.1 200').length - 1).toBe(count)
  socket.destroy()
  clearImmediate(timer)
  spy.mockRestore()
  return turns
}

it('long queries that arrive together do not share a turn of the event loop', async () => {
  const words = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ')
  expect(new Set(await turnsOf(words, 5)).size).toBe(5)
})
