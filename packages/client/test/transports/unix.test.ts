import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { invokeAgent, streamAgent } from '../../src/index.js'
import { codeOf, collect, fakeRetry, type Handler, sendJson, startPlainHost } from './support/agent-host.js'

let folder: string
let elsewhere: string
let handle: Handler
let host: Awaited<ReturnType<typeof startPlainHost>>
let runtime: Awaited<ReturnType<typeof startPlainHost>>

const socket = () => join(folder, 'agent.sock')
const localSocket = () => join(elsewhere, 'local.sock')
const path = (file: string): string => `agent+unix://${encodeURIComponent(file)}`
const settings = () => ({ socketFolders: [folder], localSocket: localSocket(), retry: fakeRetry().retry })

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'switchboard-unix-'))
  elsewhere = mkdtempSync(join(tmpdir(), 'switchboard-else-'))
  host = await startPlainHost((seen, response) => handle(seen, response), socket())
  runtime = await startPlainHost((seen, response) => {
    if (seen.url !== '/agents/planner') return sendJson(response, 404, { title: 'Not Found', status: 404 })
    sendJson(response, 200, { name: 'planner', transport: { unix: socket() } })
  }, localSocket())
})
afterAll(async () => {
  await Promise.all([host.close(), runtime.close()])
  for (const each of [folder, elsewhere]) rmSync(each, { recursive: true, force: true })
})
beforeEach(() => {
  host.seen.length = 0
  handle = (seen, response) => sendJson(response, 200, { said: seen.json })
})

describe('agents behind a Unix socket', () => {
  it('AURI-6.1-04 calls an agent by name; the local runtime knows its socket', async () => {
    const reply = await invokeAgent(
      'agent+unix://planner/plan?days=2',
      { city: 'Rio' },
      { ...settings(), socketFolders: [] },
    )
    expect(reply.output).toEqual({ said: { city: 'Rio', days: '2' } })
    expect(host.seen[0]).toMatchObject({ method: 'POST', url: '/plan' })
    expect(runtime.seen.map(({ url }) => url)).toContain('/agents/planner')
  })

  it('calls a socket by its path, in an allowed folder', async () => {
    const reply = await invokeAgent(`${path(socket())}/plan`, { a: 1 }, { ...settings(), sessionId: 's1' })
    expect(reply.output).toEqual({ said: { a: 1 } })
    expect(host.seen[0]?.headers).toMatchObject({
      host: 'localhost',
      'x-session-id': 's1',
      'content-type': 'application/json',
    })
  })

  it('rejects sockets outside the allowed folders, including links and dots', async () => {
    const link = join(folder, 'link.sock')
    symlinkSync(localSocket(), link)
    expect(await codeOf(invokeAgent(`${path(localSocket())}/p`, {}, settings()))).toBe('permission_denied')
    expect(await codeOf(invokeAgent(`${path(link)}/p`, {}, settings()))).toBe('permission_denied')
    expect(await codeOf(invokeAgent(`${path(`${folder}/../x.sock`)}/p`, {}, settings()))).toBe('invalid_uri')
    expect(await codeOf(invokeAgent(`${path(socket())}/p`, {}, { ...settings(), socketFolders: [] }))).toBe(
      'permission_denied',
    )
    expect(runtime.seen.filter(({ url }) => url === '/p')).toEqual([])
  })

  it('streams', async () => {
    handle = (_seen, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: 1\n\ndata: 2\n\n')
    const parts = await collect(streamAgent(`${path(socket())}/p`, {}, settings()))
    expect(parts.map(({ data }) => data)).toEqual([1, 2])
  })

  it('cancels the work at the agent when the loop is left', async () => {
    const left = new Promise<void>((resolve) => {
      handle = (_seen, response) => {
        response.on('close', resolve)
        response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write('1\n')
      }
    })
    for await (const _part of streamAgent(`${path(socket())}/p`, {}, settings())) break
    await left
  })

  it('waits for deferred responses on the same socket', async () => {
    handle = ({ url }, response) =>
      url === '/p'
        ? sendJson(response, 202, { taskId: '1', status: 'pending' }, { location: '/tasks/1' })
        : sendJson(response, 200, 'done')
    expect((await invokeAgent(`${path(socket())}/p`, {}, settings())).output).toBe('done')
  })

  it('fails with a code if there is no agent, no socket, no response, or a truncated one', async () => {
    expect(await codeOf(invokeAgent('agent+unix://nobody/p', {}, settings()))).toBe('not_found')
    expect(await codeOf(invokeAgent(`${path(join(folder, 'none.sock'))}/p`, {}, settings()))).toBe('not_found')
    handle = () => {}
    expect(await codeOf(invokeAgent(`${path(socket())}/p`, {}, { ...settings(), timeoutMs: 50 }))).toBe('timeout')
    handle = (_seen, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '9' })
      response.write('{', () => response.destroy())
    }
    expect(await codeOf(invokeAgent(`${path(socket())}/p`, {}, settings()))).toBe('unreachable')
    handle = (_seen, response) => response.writeHead(204).end()
    expect((await invokeAgent(`${path(socket())}/p`, {}, settings())).output).toBeNull()
  })
})
