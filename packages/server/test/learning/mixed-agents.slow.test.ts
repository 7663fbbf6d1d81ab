import { type JsonObject, readRecord } from '@switchboard/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AgentEvent, text as a2aText, message, startA2aAgent } from '../gateway/a2a-agent.js'
import { bodyOf, sendJson, startHttpAgent, startRawAgent } from '../gateway/agent.js'
import { startMcpAgent, text } from '../gateway/mcp-agent.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'

const AGENTS = 500
/** The position of the kind whose server never answers. */
const SILENT = 4

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

let directory: TestDirectory
const open: { close(): Promise<void> }[] = []
const keep = async <T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
  const thing = await starting
  open.push(thing)
  return thing
}

beforeAll(async () => {
  directory = await startDirectory({ operations: { fetch: true } })
})
afterAll(async () => {
  await directory.close()
  for (const thing of open) await thing.close()
})

/** A request that registers an agent. */
type Registration = readonly [path: string, body: JsonObject]
/** How an agent with this id is registered. */
type Kind = (id: string) => Registration

const imported =
  (document: JsonObject): Kind =>
  (id) => ['/admin/import', { id, ...document }]
const listed =
  (body: JsonObject): Kind =>
  (id) => [`/ad/r?agent=${id}`, body]
const plain =
  (body: JsonObject): Kind =>
  (id) => ['/agents', { id, ...body }]

/** What answers: official SDKs, an API, plain agents, and some that nobody would want. */
async function startKinds(): Promise<readonly Kind[]> {
  const tools = ['add', 'subtract'].map((name) => ({ name, inputSchema: { type: 'object' as const } }))
  const [mcp, stateless, more] = await Promise.all([
    keep(startMcpAgent(({ name }) => text(name), { tools: [tools] })),
    keep(startMcpAgent(({ name }) => text(name), { tools: [tools.slice(0, 1)], stateless: true, json: true })),
    keep(startMcpAgent(({ name }) => text(name), { tools: [tools.slice(1), tools.slice(0, 1)] })),
  ])
  const a2a = await keep(startA2aAgent((_, publish) => publish(AgentEvent.message(message([a2aText('hello')])))))
  const echo = await keep(
    startHttpAgent(async (request, response) => sendJson(response, JSON.parse((await bodyOf(request)) || '{}'))),
  )
  const description: JsonObject = {
    openapi: '3.1.0',
    info: { title: 'API', version: '1' },
    paths: { '/things': { get: { operationId: 'listThings', responses: {} }, post: { responses: {} } } },
  }
  const api = await keep(
    startHttpAgent(({ url }, response) => sendJson(response, url === '/openapi.json' ? description : { url })),
  )
  const silent = await keep(startRawAgent(() => {}))
  const closed = await keep(startHttpAgent((_, response) => sendJson(response, {}, 401)))
  const server = (url: string) =>
    imported({
      name: 'net.example/m',
      description: 'Tools.',
      version: '1',
      remotes: [{ type: 'streamable-http', url }],
    })
  const aidip = { name: 'Plain', description: 'Says it again.', endpoint: echo.url, capabilities: ['echo'] }
  const anything = { type: 'object' }
  return [
    server(mcp.url),
    server(stateless.url),
    server(more.url),
    server(closed.url),
    server(silent.url),
    listed({ base: mcp.url, protocols: ['mcp'], capabilities: [] }),
    listed({ base: mcp.url, protocols: ['mcp'], capabilities: [{ name: 'arithmetic', type: 'skill' }] }),
    listed({ base: more.url, protocols: ['mcp'], capabilities: [{ name: 'add', type: 'tool' }] }),
    imported(await a2a.cardOf('1.0')),
    imported(await a2a.cardOf('0.3')),
    listed({ base: `${a2a.url}rpc`, protocols: ['a2a'], capabilities: [] }),
    listed({ base: `${a2a.url}rest`, protocols: ['a2a'], capabilities: [{ name: 'chat', type: 'skill' }] }),
    plain({ ...aidip, inputs: anything, outputs: anything }),
    plain({ ...aidip, operations: [{ name: 'a', inputs: anything, outputs: anything }, { name: 'b' }] }),
    listed({ base: echo.url, protocols: ['https'], capabilities: [] }),
    imported({ ...description, servers: [{ url: api.url }] }),
    listed({ base: api.url, protocols: ['openapi'], capabilities: [] }),
    listed({ base: `${api.url}openapi.json`, protocols: ['openapi'], capabilities: [{ name: 'x', type: 'tool' }] }),
  ]
}

it('AIDIP-6-02 of 500 agents of mixed kinds, none lists an operation that cannot be called', async () => {
  const kinds = await startKinds()
  const ids = Array.from({ length: AGENTS }, (_, n) => `agent-${n}`)
  const times: { kind: number; ms: number }[] = []
  for (let first = 0; first < ids.length; first += 10) {
    const wave = ids.slice(first, first + 10).map(async (id, i) => {
      const kind = (first + i) % kinds.length
      const [path, body] = kinds[kind]?.(id) ?? ['', {}]
      const begun = performance.now()
      const { status, text: answer } = await directory.post(path, {
        as: path === '/admin/import' ? 'admin' : 'tokA',
        body,
      })
      times.push({ kind, ms: performance.now() - begun })
      expect([200, 201], answer).toContain(status)
      expect(answer).not.toContain('"failed"')
    })
    await Promise.all(wave)
  }
  // A server that never answers delays nobody, least of all the agents that it serves.
  const ofSilent = median(times.filter(({ kind }) => kind === SILENT).map(({ ms }) => ms))
  expect(ofSilent).toBeLessThan(3 * median(times.map(({ ms }) => ms)) + 500)

  const unlearned = async (): Promise<string[]> => {
    const left: string[] = []
    for (const id of ids) {
      const { verification, operations } = (await directory.get(`/agents/${id}`)).json
      const position = Number(id.slice(6)) % kinds.length
      const isLearnable = [0, 1, 2, 5, 6, 7, 10, 11, 16, 17].includes(position)
      if (isLearnable && !verification.operations) left.push(`${id} (${position}): ${JSON.stringify(operations)}`)
    }
    return left
  }
  await expect.poll(unlearned, { timeout: 60_000, interval: 500 }).toEqual([])

  const failures: string[] = []
  let calls = 0
  for (const id of ids) {
    const { operations = [], capabilities } = (await directory.get(`/agents/${id}`)).json
    const descriptor = readRecord('descriptor', (await directory.get(`/agents/${id}/agent.json`)).json, id)
    const listed: { name: string }[] = [...operations, ...descriptor.operations]
    // A capability that the publisher declares is not necessarily an operation.
    const names = new Set(listed.map(({ name }) => name))
    for (const name of capabilities)
      if (!operations.some((each: { name: string }) => each.name === name)) names.delete(name)
    for (const operation of names) {
      calls++
      const { status, text: answer } = await directory.post(`/agents/${id}/invoke`, { as: 'tokC', body: { operation } })
      if (status !== 200) failures.push(`${id} ${operation}: ${status} ${answer.slice(0, 200)}`)
    }
  }
  expect(failures).toEqual([])
  expect(calls).toBeGreaterThan(AGENTS / 2)

  const { json } = await directory.post('/resolve', { body: { intent: 'add two numbers', top: 50 } })
  for (const { id, invocation } of json.candidates) {
    for (const { name } of invocation.operations) {
      const { status, text: answer } = await directory.post(`/agents/${id}/invoke`, {
        as: 'tokC',
        body: { operation: name },
      })
      expect(status, `${id} ${name}: ${answer}`).toBe(200)
    }
  }
}, 240_000)
