import { afterAll, beforeAll, beforeEach, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'

let d: TestDirectory
beforeAll(async () => { d = await startDirectory() })
afterAll(() => d.close())
beforeEach(() => d.clear())
const show = (label: string, a: { status: number; text: string; headers: Headers }) => console.log(label, a.status, a.text.slice(0, 900), a.headers.get('x-switchboard-warnings'))

it('aidip partial', async () => {
  await d.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'p1', visibility: 'private', 'com.example.x': { a: 1 }, operations: [{ name: 'secret', private: true, inputs: {}, outputs: {} }, { name: 'open', inputs: {}, outputs: {} }] }) })
  const l = (await d.get('/ad/l', { as: 'tokA' })).json.agents[0].href
  show('before', await d.get(l, { as: 'tokA' }))
  show('upd', await d.post(l, { as: 'tokA', body: { description: 'Another description altogether.' } }))
  show('after', await d.get(l, { as: 'tokA' }))
  show('anon', await d.get(l))
  show('aidip', await d.get('/agents/p1', { as: 'tokA' }))
})
it('hr partial', async () => {
  await d.post('/discover/agents', { as: 'tokA', body: fixture('FX-HR') })
  const l = (await d.get('/ad/l', { as: 'tokA' })).json.agents[0].href
  show('upd', await d.post(l, { as: 'tokA', body: { description: 'Another description altogether.' } }))
})
it('lost update', async () => {
  const { headers } = await d.post('/ad/r?agent=x', { as: 'tokA', body: fixture('FX-OR') })
  const l = String(headers.get('location'))
  show('reg', await d.get(l))
  const rs = await Promise.all(Array.from({ length: 20 }, (_, i) => d.post(l, { as: 'tokA', body: { [`com.example.m${i}`]: i } })))
  console.log(rs.map((r) => r.status).join())
  console.log(Object.keys((await d.get(l)).json).join())
})
it('concurrency', async () => {
  await d.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'c1' }) })
  const rs = await Promise.all(Array.from({ length: 50 }, (_, i) => d.put('/agents/c1', { as: 'tokA', body: aidipAgent({ description: `number ${i} of many descriptions` }) })))
  console.log(rs.map((r) => r.status).join())
  const t0 = Date.UTC(2026, 0, 1)
  const at = (i: number) => new Date(t0 + i * 1000).toISOString()
  await d.post('/discover/agents', { as: 'tokA', body: fixture('FX-D0', { updated_at: at(0) }) })
  const qs = await Promise.all(Array.from({ length: 50 }, (_, i) => d.post('/discover/agents', { as: 'tokA', body: fixture('FX-D0', { updated_at: at(i + 1), description: `d ${i}` }) })))
  console.log(qs.map((r) => r.status).join())
  show('d0', await d.get(`/discover/agents/${encodeURIComponent('https://example.net/agents/minimal')}`))
})
it('ims', async () => {
  const a = await d.get('/ad/l')
  await d.post('/ad/r?agent=x', { as: 'tokA', body: fixture('FX-OR') })
  show('ims', await d.get('/ad/l', { headers: { 'if-modified-since': String(a.headers.get('last-modified')) } }))
  console.log(await d.get('/agents/x/agent.json').then((r) => r.text))
  console.log([...(await d.get('/agents/x/agent.json')).headers])
})
