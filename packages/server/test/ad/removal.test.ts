import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'
import { expectError } from '../support/errors.js'
import { lookUp, register } from './register.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

const tokA = { as: 'tokA' } as const

it('AD-4.5-01 deletes a registration for its owner: 204, gone from every view, and the name is free', async () => {
  const href = await register(directory, 'worker', fixture('FX-OR'))
  const { status, text } = await directory.delete(href, tokA)
  expect({ status, text }).toEqual({ status: 204, text: '' })
  for (const path of [href, '/agents/worker', '/discover/agents/worker', '/agents/worker/agent.json']) {
    expect((await directory.get(path, tokA)).status, path).toBe(404)
  }
  expect(await lookUp(directory)).toEqual([])
  expect(await register(directory, 'worker', fixture('FX-OR'), { as: 'tokB' })).not.toBe(href)
})

it('AD-4.5-01 returns 404 the second time', async () => {
  const href = await register(directory, 'worker', fixture('FX-OR'))
  await directory.delete(href, tokA)
  expectError(await directory.delete(href, tokA), { status: 404, code: 'not_found' })
  expectError(await directory.post(href, tokA), { status: 404, code: 'not_found' })
})

it('AD-4.5-01 deletes an agent registered through another draft', async () => {
  await directory.post('/agents', { ...tokA, body: aidipAgent({ id: 'probe' }) })
  const [{ href }] = (await directory.get('/ad/l')).json.agents
  expect((await directory.delete(href, tokA)).status).toBe(204)
  expect((await directory.get('/agents/probe')).status).toBe(404)
})

it('AD-4.5-01 honours If-Match', async () => {
  const href = await register(directory, 'worker', fixture('FX-OR'))
  const { headers } = await directory.get(href)
  const ifMatch = { ...tokA, headers: { 'if-match': headers.get('etag') ?? '' } }
  await directory.post(href, { ...tokA, body: { description: 'Routes orders to other places.' } })
  expectError(await directory.delete(href, ifMatch), { status: 412 })
  expect(await lookUp(directory)).toEqual(['worker'])
})
