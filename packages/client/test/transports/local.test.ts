import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLocalRegistry, defaultLocalSocket, invokeAgent, streamAgent } from '../../src/index.js'
import { codeOf, collect, fakeRetry, sendJson, startPlainHost } from './support/agent-host.js'

let folder: string
let runtime: Awaited<ReturnType<typeof startPlainHost>>
let bridge: Awaited<ReturnType<typeof startPlainHost>>
const consented = new Set<string>()

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'switchboard-local-'))
  runtime = await startPlainHost(
    (seen, response) => {
      if (!seen.url.startsWith('/agents/notes/'))
        return sendJson(response, 404, { title: 'Not Found', status: 404, detail: 'no such local agent' })
      sendJson(response, 200, { path: seen.url, input: seen.json })
    },
    join(folder, 'local.sock'),
  )
  // The bridge as a page sees it: it returns 403 until the user consents to the page's origin.
  bridge = await startPlainHost((seen, response) => {
    if (consented.has(String(seen.headers.origin))) return sendJson(response, 200, 'let in')
    sendJson(response, 403, { error: { code: 'PermissionDenied', message: 'ask the person first' } })
  })
})
afterAll(async () => {
  await Promise.all([runtime.close(), bridge.close()])
  rmSync(folder, { recursive: true, force: true })
})

const noFetch: typeof fetch = async () => {
  throw new Error('the network was used')
}
const settings = () => ({ fetch: noFetch, localSocket: join(folder, 'local.sock'), retry: fakeRetry().retry })

describe('agents in this process', () => {
  it('AURI-6.1-03 calls a function registered at run time', async () => {
    const localRegistry = createLocalRegistry()
    const unregister = localRegistry.register(
      'Echo',
      (input, { operation = 'none', sessionId = '' }) => `${operation} ${sessionId} ${JSON.stringify(input)}`,
    )
    const call = () =>
      invokeAgent('agent+local://echo/say?n=1', { text: 'hi' }, { ...settings(), localRegistry, sessionId: 's1' })
    expect((await call()).output).toBe('say s1 {"n":"1","text":"hi"}')
    unregister()
    expect(await codeOf(call())).toBe('not_found')
  })

  it('streams the values of an async generator, and stops it when the loop is left', async () => {
    const localRegistry = createLocalRegistry()
    let isStopped = false
    localRegistry.register('count', async function* () {
      try {
        for (let n = 1; ; n++) yield n
      } finally {
        isStopped = true
      }
    })
    const parts: unknown[] = []
    for await (const { data } of streamAgent('agent+local://count', {}, { ...settings(), localRegistry })) {
      parts.push(data)
      if (data === 3) break
    }
    expect(parts).toEqual([1, 2, 3])
    expect(isStopped).toBe(true)
    expect(await codeOf(invokeAgent('agent+local://count', {}, { ...settings(), localRegistry }))).toBe('bad_response')
  })

  it('fails with a code if the function throws or times out, and rejects a duplicate name', async () => {
    const localRegistry = createLocalRegistry()
    localRegistry.register('fails', () => {
      throw new Error('broken')
    })
    localRegistry.register('hangs', () => new Promise(() => {}))
    const options = { ...settings(), localRegistry, timeoutMs: 50 }
    expect(await codeOf(invokeAgent('agent+local://fails', {}, options))).toBe('remote_error')
    expect(await codeOf(invokeAgent('agent+local://hangs', {}, options))).toBe('timeout')
    expect(() => localRegistry.register('HANGS', () => null)).toThrow(expect.objectContaining({ code: 'conflict' }))
  })
})

describe('agents of the local runtime', () => {
  it('calls them through the user’s socket, and streams', async () => {
    const reply = await invokeAgent('agent+local://notes/add', { text: 'milk' }, settings())
    expect(reply.output).toEqual({ path: '/agents/notes/add', input: { text: 'milk' } })
    expect(await collect(streamAgent('agent+local://notes', {}, settings()))).toEqual([
      { data: { path: '/agents/notes/invoke', input: {} } },
    ])
  })

  it('AURI-6.1-08 fails with not_found for an unknown agent, without network traffic', async () => {
    expect(await codeOf(invokeAgent('agent+local://unknown/x', {}, settings()))).toBe('not_found')
    const none = { ...settings(), localSocket: join(folder, 'none.sock') }
    await expect(invokeAgent('agent+local://unknown/x', {}, none)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('switchboard local'),
    })
    writeFileSync(join(folder, 'file'), '')
    expect(
      await codeOf(invokeAgent('agent+local://unknown', {}, { ...settings(), localSocket: join(folder, 'file') })),
    ).toBe('not_found')
  })

  it('looks for the runtime in the user’s socket folder', async () => {
    expect(await defaultLocalSocket()).toMatch(/\/\.?switchboard\/local\.sock$/)
  })
})

describe('the bridge for pages', () => {
  it('AURI-6.1-09 rejects a page without consent, accepts it with consent, and rejects it again after revocation', async () => {
    const asPage: typeof fetch = (input, init) =>
      fetch(input, {
        ...init,
        headers: { ...Object.fromEntries(new Headers(init?.headers)), origin: 'https://page.example' },
      })
    const call = () =>
      invokeAgent('agent+local://notes/add', {}, { ...settings(), fetch: asPage, localBridge: bridge.url })
    expect(await codeOf(call())).toBe('permission_denied')
    consented.add('https://page.example')
    expect((await call()).output).toBe('let in')
    consented.clear()
    expect(await codeOf(call())).toBe('permission_denied')
  })

  it('must be on this computer', async () => {
    const far = { ...settings(), localBridge: 'https://bridge.example' }
    expect(await codeOf(invokeAgent('agent+local://notes/add', {}, far))).toBe('invalid_argument')
  })
})
