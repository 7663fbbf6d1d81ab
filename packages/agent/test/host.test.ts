import { invokeAgent, parseAgentsJson, streamAgent } from '@switchboard/client'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createAgentHost } from '../src/index.js'
import { closeAll, count, echo, makeAgent, makeKey, send, track } from './support/agents.js'

afterEach(closeAll)

async function startHost() {
  const agents = {
    planner: makeAgent({ name: 'planner', capabilities: [count], key: makeKey('planner-key') }),
    translator: makeAgent({ name: 'translator', capabilities: [echo] }),
  }
  const host = track(createAgentHost({ agents }))
  const { url = '' } = await host.listen()
  return { host, agents, url, authority: new URL(url).host }
}

describe('a host of many agents', () => {
  it('AURI-5-03 AURI-5.1-01 AURI-5.1-08 lists them, and each has its descriptor', async () => {
    const { url, agents } = await startHost()
    const response = await send(`${url}/.well-known/agents.json`)
    expect(response.json).toEqual({
      agents: { planner: `${url}/planner/agent.json`, translator: `${url}/translator/agent.json` },
    })
    for (const name of ['cache-control', 'etag', 'last-modified']) expect(response.headers.has(name)).toBe(true)
    const index = parseAgentsJson(response.json, `${url}/.well-known/agents.json`)
    expect([...index.keys()]).toEqual(['planner', 'translator'])
    const card = await send(`${url}/planner/agent.json`)
    expect(card.json).toMatchObject({ name: 'planner', url: `${url}/planner/a2a` })
    expect(card.json.transport.ws).toBe(`${url.replace('http', 'ws')}/planner/`)
    expect(agents.planner.url).toBe(`${url}/planner`)
  })

  it('is resolved and called by agent URIs', async () => {
    const { authority } = await startHost()
    const options = { httpLoopback: true }
    const reply = await invokeAgent(`agent://${authority}/translator/echo?text=hi`, undefined, options)
    expect(reply.output).toEqual({ text: 'hi' })
    const parts: unknown[] = []
    for await (const { data } of streamAgent(`agent://${authority}/planner/count`, { to: 2 }, options)) parts.push(data)
    expect(parts).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('publishes the keys of all agents', async () => {
    const { url, authority } = await startHost()
    const { json } = await send(`${url}/.well-known/jwks.json`)
    expect(json.keys.map(({ kid }: { kid: string }) => kid)).toEqual(['planner-key'])
    const reply = await invokeAgent(
      `agent://${authority}/planner/count`,
      { to: 1 },
      { httpLoopback: true, requireSignature: true },
    )
    expect(reply.output).toEqual([{ n: 1 }])
  })

  it('serves WebSockets of its agents, and returns 404 for others', async () => {
    const { url } = await startHost()
    const socket = new WebSocket(`${url.replace('http', 'ws')}/translator/echo`)
    const line = await new Promise((resolve, reject) => {
      socket.on('open', () => socket.send('{"id":"1","input":{"text":"hi"}}'))
      socket.on('message', (data) => resolve(JSON.parse(String(data)).result)).on('error', reject)
    })
    expect(line).toEqual({ text: 'hi' })
    socket.close()
    expect((await send(`${url}/nobody/agent.json`)).status).toBe(404)
    expect((await send(`${url}/health`)).json).toEqual({ status: 'ok', agents: ['planner', 'translator'] })
  })

  it('needs agents, with names that can be path segments', () => {
    expect(() => createAgentHost({ agents: { 'a/b': makeAgent() } })).toThrow(/path segment/)
    expect(() => createAgentHost({ agents: {} })).toThrow(/at least one agent/)
  })
})
