import { AgentCard, generateAgentCardSignature, verifyAgentCardSignature } from '@a2a-js/sdk'
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { fixture } from '../support/documents.js'

let directory: TestDirectory
let text: string
let key: Awaited<ReturnType<typeof exportJWK>>

beforeAll(async () => {
  directory = await startDirectory()
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  key = { ...(await exportJWK(publicKey)), alg: 'ES256' }
  const card = AgentCard.fromJSON({
    name: 'Planner',
    description: 'Plans journeys by train.',
    version: '2.0.0',
    supportedInterfaces: [{ url: 'https://planner.example/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true, extensions: [{ uri: 'urn:x', params: { 10: 'b', 9: 'a', rate: 1.5 } }] },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'plan', name: 'Plan', description: 'Plans a journey.', tags: ['travel'] }],
  })
  const signed = await generateAgentCardSignature(privateKey, { alg: 'ES256', kid: 'k', typ: 'JOSE' })(card)
  // Numbers and white space that JSON.stringify would write in another way.
  text = `${JSON.stringify(AgentCard.toJSON(signed), null, 3).replace('1.5', '1.50')}\n`
})
afterAll(() => directory.close())

const path = (id: string): string => `/agents/${encodeURIComponent(id)}/agent-card.json`

async function expectSame(id: string): Promise<void> {
  const answer = await directory.get(path(id))
  expect(answer.text).toBe(text)
  expect(answer.headers.get('link')).toBe(`</agents/${encodeURIComponent(id)}>; rel="describedby"`)
  await verifyAgentCardSignature(async () => key)(AgentCard.fromJSON(answer.json))
}

it('returns a card that its publisher has signed byte for byte, also after a restart', async () => {
  const id = 'https://planner.example/a2a'
  expect((await directory.post('/agents', { as: 'tokA', raw: text })).status).toBe(201)
  await expectSame(id)
  await directory.restart()
  await expectSame(id)
})

it('keeps it when the operator says something about the agent, which other views show', async () => {
  expect((await directory.post('/agents?id=planner', { as: 'tokA', raw: text })).status).toBe(201)
  const marked = await directory.patch('/admin/agents/planner', { as: 'admin', body: { quality_score: 4 } })
  expect(marked.status, marked.text).toBe(200)
  await expectSame('planner')
  await directory.restart()
  await expectSame('planner')
  expect((await directory.get('/agents/planner')).json.verification).toMatchObject({ quality_score: 4 })
})

it('keeps it when it is imported, line by line', async () => {
  const line = JSON.stringify(JSON.parse(text)).replace('1.5', '1.50').replace('planner.example', 'other.example')
  await directory.post('/admin/import', { as: 'admin', raw: line })
  expect((await directory.get(path('https://other.example/a2a'))).text).toBe(line)
})

it('requires an id that fits the document', async () => {
  const { status, json } = await directory.post('/agents?id=other', { as: 'tokA', body: fixture('FX-T01') })
  expect([status, json.error.message]).toEqual([400, expect.stringContaining('?id')])
})
