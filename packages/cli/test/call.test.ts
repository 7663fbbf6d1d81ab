import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aidip, type Bench, startBench, startWeb } from './support/cli.js'

let bench: Bench
let web: Awaited<ReturnType<typeof startWeb>>
const released: (() => void)[] = []

beforeAll(async () => {
  bench = await startBench()
  web = await startWeb(({ url, body, headers }, response): unknown => {
    const json = (value: unknown, status = 200): unknown =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (url === '/.well-known/agent.json') {
      const capabilities = [{ name: 'echo', input: { n: 'integer' } }, { name: 'count' }]
      return json({
        name: 'tester',
        version: '1.2.3',
        url: `http://${headers.host}/run`,
        capabilities,
        authentication: { type: 'bearer' },
      })
    }
    if (url.endsWith('/count')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"n":1}\n\n')
      return released.push(() => response.end('data: "two"\n\n'))
    }
    if (url.endsWith('/picture'))
      return response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([0, 255]))
    if (url.endsWith('/fails')) return json({ title: 'Broken', status: 500, detail: 'it fell over' }, 500)
    if (url.endsWith('/steers')) return json('a\u001b[2Jb\nc')
    if (url.startsWith('/run') || url === '/') {
      return json({ url, input: JSON.parse(body || 'null'), who: headers.authorization ?? null })
    }
    return json({ title: 'Not Found', status: 404 }, 404)
  })
  await bench.cli('register', bench.file('remote.json', aidip('remote', { endpoint: web.url })))
})
afterAll(async () => {
  await web.close()
  await bench.close()
})

const open = (path: string): string[] => [`agent://${web.host}/${path}`, '--allow-private']

describe('switchboard resolve', () => {
  it('prints where an agent is, and which URLs were requested to find it', async () => {
    const { code, stdout } = await bench.stranger('resolve', ...open('echo?n=1'))
    expect(code).toBe(0)
    expect(stdout).toMatch(/^agent +tester$/m)
    expect(stdout).toMatch(/^version +1\.2\.3$/m)
    expect(stdout).toMatch(/^capability +echo$/m)
    expect(stdout).toMatch(/^requested +http:\/\/127\.0\.0\.1:\d+\/\.well-known\/agents\.json$/m)
    const json = JSON.parse((await bench.stranger('resolve', ...open('echo'), '--json')).stdout)
    expect(json).toMatchObject({ capability: 'echo', endpoint: `${web.url}/run`, descriptor: { name: 'tester' } })
  })

  it('rejects loopback addresses without --allow-private, and suggests it', async () => {
    const refused = await bench.stranger('resolve', `agent://${web.host}/echo`)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/--allow-private/) })
    const unsigned = await bench.stranger('resolve', ...open('echo'), '--require-signature')
    expect(unsigned).toMatchObject({ code: 1, stderr: expect.stringMatching(/--require-signature/) })
  })
})

describe('switchboard call', () => {
  it('calls by URI with pairs, JSON, a file, and a token for the agent', async () => {
    const call = async (...args: string[]) =>
      JSON.parse((await bench.stranger('call', ...open('echo'), ...args)).stdout)
    expect(await call('n:=3', 'text=4')).toEqual({ url: '/run/echo', input: { n: 3, text: '4' }, who: null })
    expect((await call('--input', '{"n":1}')).input).toEqual({ n: 1 })
    expect((await call('--input', `@${bench.file('input.json', { n: 2 })}`)).input).toEqual({ n: 2 })
    const whole = await call('n:=1', '--json', '--agent-token', 'for-the-agent')
    expect(whole).toMatchObject({
      output: { input: { n: 1 }, who: 'Bearer for-the-agent' },
      status: 200,
      contentType: 'application/json',
    })
  })

  it('validates the input before sending it, and names the member', async () => {
    expect(await bench.stranger('call', ...open('echo'), 'n=many')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^switchboard: [^\n]*\/n [^\n]*integer[^\n]*\n$/),
    })
  })

  it('prints the parts of a stream as they arrive', async () => {
    const calling = bench.start('call', ...open('count'), '--stream')
    // The second part is sent only after the first was printed.
    await calling.printed('{"n":1}\n')
    released.shift()?.()
    expect(await calling.ended).toMatchObject({ code: 0, stdout: '{"n":1}\ntwo\n' })
    const asJson = bench.start('call', ...open('count'), '--stream', '--json')
    await asJson.printed('{"data":{"n":1}}\n')
    released.shift()?.()
    expect((await asJson.ended).stdout).toBe('{"data":{"n":1}}\n{"data":"two"}\n')
  })

  it('ends a stream when interrupted', async () => {
    const calling = bench.start('call', ...open('count'), '--stream')
    await calling.printed('{"n":1}\n')
    calling.child.kill('SIGINT')
    expect((await calling.ended).code).toBe(1)
    released.length = 0
  })

  it('calls through the directory by id', async () => {
    const { code, stdout } = await bench.cli('call', 'remote', 'a=1', '--agent-token', 'for-the-agent')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ input: { a: '1' } })
    expect(await bench.cli('call', 'nobody')).toMatchObject({ code: 1, stderr: expect.stringMatching(/nobody/) })
  })

  it('writes bytes unchanged, reports failures, and removes control characters from text', async () => {
    const picture = JSON.parse((await bench.stranger('call', ...open('picture'), '--json')).stdout)
    expect(picture).toEqual({ contentType: 'image/png', base64: 'AP8=' })
    expect(await bench.stranger('call', ...open('fails'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^switchboard: it fell over/),
    })
    expect((await bench.stranger('call', ...open('steers'))).stdout).toBe('a[2Jb\nc\n')
  })

  it('calls sockets in allowed folders', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-cli-'))
    const server = createServer((_message, response) =>
      response.setHeader('content-type', 'application/json').end('"here"'),
    )
    await new Promise<void>((resolve) => server.listen(join(folder, 'a.sock'), resolve))
    try {
      const uri = `agent+unix://${encodeURIComponent(join(folder, 'a.sock'))}/x`
      expect((await bench.stranger('call', uri)).code).toBe(1)
      expect(await bench.stranger('call', uri, '--socket-folder', folder)).toMatchObject({ code: 0, stdout: 'here\n' })
    } finally {
      server.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
