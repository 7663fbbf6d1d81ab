import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Gateway } from '../../src/gateway/gateway.js'
import { temporaryFolder } from '../support/process.js'
import { type Authority, createAuthority, type Identity } from '../support/tls.js'
import { callOf, createTestGateway, failure, sendJson, startHttpAgent } from './agent.js'

const folder = temporaryFolder()
let authority: Authority
let identity: Identity
beforeAll(() => {
  authority = createAuthority(folder.path, 'authority')
  identity = authority.issue('/CN=agent', 'DNS:agent.example')
})
afterAll(() => folder.remove())

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

interface TlsAgent {
  readonly port: number
  readonly names: unknown[]
  readonly clients: unknown[]
}

/** An HTTPS agent that closes the connection after each response. */
async function startTls(host: string, port = 0, clientCa?: string): Promise<TlsAgent> {
  const names: unknown[] = []
  const clients: unknown[] = []
  const client = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }
  const server: Server = createServer({ ...identity, ...client }, (_, response) =>
    sendJson(response, { host }, 200, { connection: 'close' }),
  )
  server.on('secureConnection', (socket: TLSSocket) => {
    names.push(socket.servername)
    clients.push(socket.getPeerCertificate().subject?.CN)
  })
  await new Promise<void>((resolve) => server.listen(port, host, resolve))
  open.push({ close: () => new Promise((resolve) => server.close(() => resolve())) })
  const address: AddressInfo | string | null = server.address()
  return { port: typeof address === 'object' && address ? address.port : 0, names, clients }
}

function gatewayOf(...given: Parameters<typeof createTestGateway>): Gateway {
  const gateway = createTestGateway(...given)
  open.push(gateway)
  return gateway
}

describe('a connection to an agent', () => {
  it('AIDIP-9-02 verifies the certificate against the agent’s host name', async () => {
    const agent = await startTls('127.0.0.1')
    const tls = { ca: authority.cert }
    const gateway = gatewayOf({ tls }, { resolve: async () => ['127.0.0.1'] })
    const call = (host: string) => gateway.call(callOf(`https://${host}:${agent.port}/`))
    expect(await call('agent.example')).toMatchObject({ value: { host: '127.0.0.1' } })
    expect(agent.names).toEqual(['agent.example'])
    for (const host of ['other.example', '127.0.0.1']) {
      expect(await failure(call(host)), host).toMatchObject({ code: 'unreachable', mayHaveRun: false })
    }
    const stranger = gatewayOf({}, { resolve: async () => ['127.0.0.1'] })
    const untrusted = failure(stranger.call(callOf(`https://agent.example:${agent.port}/`)))
    expect(await untrusted).toMatchObject({ code: 'unreachable' })
  })

  it('AIDIP-9-06 C-96 presents the gateway’s certificate to an agent that requires one', async () => {
    const agent = await startTls('127.0.0.1', 0, authority.cert)
    const url = `https://agent.example:${agent.port}/`
    const resolve = async () => ['127.0.0.1']
    const own = authority.issue('/CN=gateway')
    const known = gatewayOf({ tls: { ca: authority.cert, ...own } }, { resolve })
    expect(await known.call(callOf(url))).toMatchObject({ status: 200 })
    expect(agent.clients).toContain('gateway')
    const unknown = gatewayOf({ tls: { ca: authority.cert }, retries: 0 }, { resolve })
    expect(await failure(unknown.call(callOf(url)))).toMatchObject({ code: 'unreachable' })
  })

  it('goes to the address that was checked, even if the name then resolves to another', async () => {
    const good = await startTls('127.0.0.2')
    const secret = await startTls('127.0.0.3', good.port)
    const answers = [['127.0.0.2'], ['127.0.0.3'], ['127.0.0.2', '127.0.0.3']]
    const lookups: string[] = []
    const resolve = async (name: string) => {
      lookups.push(name)
      return answers.shift() ?? []
    }
    const options = { allow: ['127.0.0.2'], allowLoopback: false, tls: { ca: authority.cert }, retries: 0 }
    const gateway = gatewayOf(options, { resolve })
    const call = () => gateway.call(callOf(`https://agent.example:${good.port}/`))
    expect(await call()).toMatchObject({ value: { host: '127.0.0.2' } })
    expect(lookups).toEqual(['agent.example'])
    expect(await failure(call())).toMatchObject({ code: 'blocked', mayHaveRun: false })
    expect(await failure(call())).toMatchObject({ code: 'blocked', mayHaveRun: false })
    expect(secret.names).toEqual([])
  })

  it('tries the next address if one does not respond', async () => {
    const agent = await startTls('127.0.0.2')
    const gateway = gatewayOf({ tls: { ca: authority.cert } }, { resolve: async () => ['127.0.0.4', '127.0.0.2'] })
    const answer = await gateway.call(callOf(`https://agent.example:${agent.port}/`))
    expect(answer).toMatchObject({ value: { host: '127.0.0.2' } })
  })

  it('times out if the name is not resolved in time', async () => {
    const gateway = gatewayOf({ connectMs: 50, retries: 0 }, { resolve: () => new Promise(() => {}) })
    expect(await failure(gateway.call(callOf('https://agent.example/')))).toMatchObject({
      code: 'timeout',
      mayHaveRun: false,
    })
  })

  it('is not opened if the name cannot be resolved', async () => {
    const resolve = async () => {
      throw new Error('SERVFAIL')
    }
    const gateway = gatewayOf({}, { resolve })
    expect(await failure(gateway.call(callOf('https://agent.example/')))).toMatchObject({ code: 'unreachable' })
  })
})

describe('a loop', () => {
  it('is detected by the gateway’s own addresses', async () => {
    const agent = await startHttpAgent((_, response) => sendJson(response, 1))
    open.push(agent)
    const gateway = gatewayOf({}, { self: () => [agent.url] })
    expect(await failure(gateway.call(callOf(`${agent.url}agents/x/invoke`)))).toMatchObject({ code: 'loop' })
    expect(await failure(gateway.fetch(`http://localhost:${agent.port}/`))).toMatchObject({ code: 'loop' })
    expect(agent.connections()).toBe(0)
  })

  it('is detected by the Via header, through any gateways in between', async () => {
    const seen: unknown[] = []
    const agent = await startHttpAgent((request, response) => {
      seen.push(request.headers.via)
      sendJson(response, 1)
    })
    open.push(agent)
    const gateway = gatewayOf({}, { hopId: 'switchboard-one' })
    const call = (headers: Record<string, string>) => gateway.call(callOf(agent.url, { headers }))
    await call({})
    await call({ Via: '1.1 switchboard-two' })
    expect(seen).toEqual(['1.1 switchboard-one', '1.1 switchboard-two, 1.1 switchboard-one'])
    expect(await failure(call({ via: String(seen[1]) }))).toMatchObject({ code: 'loop', mayHaveRun: false })
    const long = Array.from({ length: 200 }, (_, i) => `1.1 gateway-${i}`).join(', ')
    expect(await failure(call({ via: long }))).toMatchObject({ code: 'loop' })
  })
})
