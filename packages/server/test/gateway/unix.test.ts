import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eachPart } from '@switchboard/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { endpointsOf } from '../../src/gateway/endpoints-of.js'
import { bodyOf, callOf, createTestGateway, endpoint, gather, sendJson, startHttpAgent } from './agent.js'

let root: string
let allowed: string
const open: { close(): Promise<void> }[] = []
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'switchboard-unix-'))
  allowed = join(root, 'allowed')
  mkdirSync(allowed)
})
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
  rmSync(root, { recursive: true })
})

async function start(path: string, listener: Parameters<typeof startHttpAgent>[0]) {
  const agent = await startHttpAgent(listener, path)
  const gateway = createTestGateway({ socketFolders: [allowed, join(root, 'none')] })
  open.push(gateway, agent)
  return { agent, gateway }
}

describe('an agent behind a Unix socket', () => {
  it('C-81 is called over HTTP, at the path of its URI', async () => {
    const seen: unknown[] = []
    const path = join(allowed, 'a.sock')
    const { gateway } = await start(path, async (request, response) => {
      seen.push(request.url, request.headers.host, await bodyOf(request))
      sendJson(response, { ok: true })
    })
    const bindings = [
      { protocol: 'unix', endpoint: `unix:${path}` },
      { protocol: 'agent+unix', endpoint: `agent+unix://${encodeURIComponent(path)}//do/it?x=1` },
    ]
    for (const target of endpointsOf({ format: 'descriptor', bindings })) {
      expect(await gateway.call(callOf(target))).toMatchObject({ status: 200, value: { ok: true } })
    }
    expect(seen).toEqual(['/', 'localhost', '{"text":"hi"}', '//do/it?x=1', 'localhost', '{"text":"hi"}'])
  })

  it('streams, and can be cancelled', async () => {
    const { gateway, agent } = await start(join(allowed, 'a.sock'), (_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write('1\n')
    })
    const answer = await gateway.call(callOf(endpoint(agent.url, 'unix'), { wantsStream: true }))
    if (answer.kind !== 'stream') throw new Error(answer.kind)
    const gone = new Promise((resolve) => [...agent.sockets][0]?.on('close', resolve))
    for await (const part of eachPart(answer.batches)) {
      expect(part.data).toBe(1)
      break
    }
    await gone
  })

  it('C-81 is not called outside the folders that the operator listed', async () => {
    const { gateway } = await start(join(root, 'outside.sock'), (_, response) => sendJson(response, {}))
    symlinkSync(join(root, 'outside.sock'), join(allowed, 'link.sock'))
    for (const path of [
      join(root, 'outside.sock'),
      `${allowed}/../outside.sock`,
      join(allowed, 'link.sock'),
      `${allowed}.sock`,
      '/run/docker.sock',
      '/',
    ]) {
      await expect(gateway.call(callOf(endpoint(`unix:${path}`, 'unix'))), path).rejects.toMatchObject({
        code: 'blocked',
      })
    }
    await expect(gateway.call(callOf(endpoint('unix:relative', 'unix')))).rejects.toMatchObject({ code: 'blocked' })
  })

  it('is not called at all unless a folder is listed', async () => {
    const agent = await startHttpAgent((_, response) => sendJson(response, {}), join(allowed, 'a.sock'))
    const gateway = createTestGateway()
    open.push(gateway, agent)
    await expect(gateway.call(callOf(endpoint(agent.url, 'unix')))).rejects.toMatchObject({ code: 'blocked' })
  })

  it('is unreachable if there is no socket, or no listener', async () => {
    const path = join(allowed, 'a.sock')
    const { gateway } = await start(path, () => {})
    writeFileSync(join(allowed, 'file.sock'), '')
    for (const name of ['gone.sock', 'file.sock']) {
      await expect(gateway.call(callOf(endpoint(`unix:${join(allowed, name)}`, 'unix'))), name).rejects.toMatchObject({
        code: 'unreachable',
        mayHaveRun: false,
      })
    }
  })

  it('cannot be reached by a URL that looks like one', async () => {
    const path = join(allowed, 'a.sock')
    const { agent, gateway } = await start(path, (_, response) => sendJson(response, {}))
    const host = `${Buffer.from(path).toString('hex')}.unix`
    await expect(gateway.call(callOf(`https://${host}/`, { timeoutMs: 3000 }))).rejects.toMatchObject({
      code: 'unreachable',
    })
    expect(agent.connections()).toBe(0)
  })

  it('can send an empty stream', async () => {
    const { gateway, agent } = await start(join(allowed, 'a.sock'), (_, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
    )
    const answer = await gateway.call(callOf(endpoint(agent.url, 'unix'), { wantsStream: true }))
    expect(answer.kind === 'stream' && (await gather(eachPart(answer.batches)))).toEqual([])
  })
})
