import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCaller } from '@switchboard/client'
import { Agent as Dispatcher, fetch as undiciFetch } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Authority, createAuthority } from '../../server/test/support/tls.js'
import type { HandlerContext } from '../src/index.js'
import { closeAll, count, echo, makeAgent, makeKey, track } from './support/agents.js'

let folder: string
let authority: Authority
let dispatcher: Dispatcher
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchboard-agent-tls-'))
  authority = createAuthority(folder, 'authority')
  dispatcher = new Dispatcher({ connect: { ca: authority.cert } })
})
afterAll(async () => {
  await dispatcher.destroy()
  rmSync(folder, { recursive: true })
})
afterEach(closeAll)

/** A fetch that trusts the CA of these tests. */
const trusting: typeof fetch = async (input, init) => {
  const request = new Request(input, init)
  const body = request.body === null ? undefined : await request.arrayBuffer()
  const { method, headers, redirect, signal } = request
  const response = await undiciFetch(request.url, {
    ...{ method, redirect, signal, dispatcher },
    headers: Object.fromEntries(headers),
    ...(body && { body }),
  })
  return new Response(response.status === 204 ? null : response.body, {
    status: response.status,
    headers: [...response.headers],
  })
}

const clientOptions = () => ({ fetch: trusting, socketTls: { ca: authority.cert }, allowPrivate: true })

async function startSecure(options: Parameters<typeof makeAgent>[0]): Promise<string> {
  const agent = makeAgent(options)
  const { cert, key } = authority.issue('/CN=localhost', 'DNS:localhost')
  const { url = '' } = await agent.listen({ host: 'localhost', tls: { cert, key } })
  return new URL(url).host
}

describe('an agent behind TLS', () => {
  it('is called by agent, agent+https and agent+wss, streamed or not', async () => {
    const host = await startSecure({ capabilities: [echo, count] })
    const caller = track(createCaller(clientOptions()))
    for (const scheme of ['agent', 'agent+https', 'agent+wss']) {
      const reply = await caller.invoke(`${scheme}://${host}/echo`, { text: scheme })
      expect(reply.output).toEqual({ text: scheme })
      const parts: unknown[] = []
      for await (const { data } of caller.stream(`${scheme}://${host}/count`, { to: 2 })) parts.push(data)
      expect(parts).toEqual([{ n: 1 }, { n: 2 }])
    }
  })

  it('calls another agent, which verifies the chain with the keys of its host', async () => {
    const last = {
      name: 'last',
      handler: (_: object, { delegation }: HandlerContext) => [...(delegation?.actors ?? [])],
    }
    const keysOf = async (issuer: string) => {
      const response = await trusting(`${new URL(issuer).origin}/.well-known/jwks.json`)
      const { keys }: { keys: { kid: string; kty: string }[] } = JSON.parse(await response.text())
      return keys.map((jwk) => ({ id: jwk.kid, jwk }))
    }
    const second = await startSecure({ capabilities: [last], delegation: { keysOf } })
    const first = await startSecure({
      key: makeKey(),
      outgoing: clientOptions(),
      capabilities: [
        {
          name: 'first',
          handler: async (_: object, context: HandlerContext) => {
            const { output } = await context.call(`agent+https://${second}/last`, {})
            return Array.isArray(output) ? output : []
          },
        },
      ],
    })
    const caller = track(createCaller(clientOptions()))
    const reply = await caller.invoke(`agent://${first}/first`, {})
    expect(reply.output).toEqual([`https://${first}`])
  })
})
