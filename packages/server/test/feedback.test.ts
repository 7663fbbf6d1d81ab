import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestCaller, type TestDirectory } from './support/directory.js'
import { fixture } from './support/documents.js'
import { expectError } from './support/errors.js'

let directory: TestDirectory

beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(async () => {
  await directory.clear()
  // Ratings are kept for an owner who registers again, so another owner registers in between.
  await directory.post('/agents', { as: 'admin', body: fixture('FX-T01') })
  await directory.clear()
  await directory.post('/agents', { as: 'tokA', body: fixture('FX-T01') })
})

const PATH = '/agents/agent-12345/feedback'
const rate = (rating: number, as: TestCaller = 'tokC', path = PATH) => directory.post(path, { as, body: { rating } })
const reputation = async (as: TestCaller = 'tokA') =>
  (await directory.get('/agents/agent-12345', { as })).json.verification.reputation

describe('feedback', () => {
  it('AIDIP-10-05 is accepted, and the average is in the agent’s reputation', async () => {
    const answer = await directory.post(PATH, { as: 'tokC', body: { rating: 5, comment: 'quick and right' } })
    expect(answer).toMatchObject({
      status: 201,
      json: { agent: 'agent-12345', rating: 5, comment: 'quick and right' },
    })
    expect(await reputation()).toEqual({ rating: 5, ratings: 1 })
    await rate(2, 'tokB')
    expect(await reputation()).toEqual({ rating: 3.5, ratings: 2 })
  })

  it.each([
    [9, '/rating'],
    [0, '/rating'],
    [4.5, '/rating'],
    ['5', '/rating'],
    [undefined, '/rating'],
  ])('AIDIP-10-05 returns 400 for the rating %s', async (rating, member) => {
    const body = rating === undefined ? {} : { rating }
    expectError(await directory.post(PATH, { as: 'tokC', body }), { status: 400, member })
    expect(await reputation()).toBeUndefined()
  })

  it('returns 400 for a comment that is too long or not a string', async () => {
    for (const comment of [7, 'x'.repeat(2001)]) {
      const answer = await directory.post(PATH, { as: 'tokC', body: { rating: 3, comment } })
      expectError(answer, { status: 400, member: '/comment' })
    }
  })

  it('counts once for each subject: the latest', async () => {
    for (const rating of [1, 2, 4]) expect((await rate(rating)).status).toBe(201)
    expect(await reputation()).toEqual({ rating: 4, ratings: 1 })
  })

  it('is accepted below /v0 and /v1 too', async () => {
    expect((await rate(1, 'tokC', `/v0${PATH}`)).status).toBe(201)
    expect((await rate(5, 'tokB', `/v1${PATH}`)).status).toBe(201)
    expect(await reputation()).toEqual({ rating: 3, ratings: 2 })
  })

  it('is rejected without credentials, without the scope, and from the publisher', async () => {
    expectError(await rate(5, 'anon'), { status: 401 })
    expectError(await rate(5, 'tokA'), { status: 403, says: 'own' })
    const key = await directory.makeKey({ subject: 'reader', scopes: ['discover'] })
    expectError(await directory.post(PATH, { key, body: { rating: 5 } }), { status: 403, says: 'invoke scope' })
  })

  it('returns 404 if the agent is unknown or hidden from the caller', async () => {
    expectError(await rate(5, 'tokC', '/agents/nobody/feedback'), { status: 404 })
    await directory.post('/agents', { as: 'tokA', body: fixture('FX-T01', { id: 'hidden', visibility: 'private' }) })
    expectError(await rate(5, 'tokC', '/agents/hidden/feedback'), { status: 404 })
  })

  it('is shown to the owner and administrators only, and survives a restart', async () => {
    await rate(4)
    await directory.restart()
    expect(await reputation('admin')).toEqual({ rating: 4, ratings: 1 })
    expect(await reputation('tokA')).toEqual({ rating: 4, ratings: 1 })
    for (const who of ['tokC', 'tokB', 'anon'] as const) expect(await reputation(who)).toBeUndefined()
  })

  it('is not inherited by another owner of the name, but kept for an owner who registers again', async () => {
    await rate(1)
    await directory.delete('/agents/agent-12345', { as: 'tokA' })
    await directory.post('/agents', { as: 'tokA', body: fixture('FX-T01') })
    expect(await reputation()).toEqual({ rating: 1, ratings: 1 })
    await directory.delete('/agents/agent-12345', { as: 'tokA' })
    await directory.post('/agents', { as: 'tokB', body: fixture('FX-T01') })
    expect(await reputation('tokB')).toBeUndefined()
    await rate(5)
    expect(await reputation('tokB')).toEqual({ rating: 5, ratings: 1 })
  })

  it('is in the audit log without the comment', async () => {
    await directory.post(PATH, { as: 'tokC', body: { rating: 2, comment: 'they know my secret' } })
    const { entries } = (await directory.get('/admin/audit?action=feedback&limit=1', { as: 'admin' })).json
    expect(entries).toMatchObject([{ actor: 'tokC', agent: 'agent-12345', detail: 'rating 2' }])
    expect(JSON.stringify(entries)).not.toContain('secret')
  })

  it('is not stored in the document when the owner sends back what it read', async () => {
    await rate(2)
    const { json, headers } = await directory.get('/agents/agent-12345', { as: 'tokA' })
    const put = await directory.put('/agents/agent-12345', {
      as: 'tokA',
      body: { ...json, description: 'changed' },
      headers: { 'if-match': headers.get('etag') ?? '' },
    })
    expect(put.status, put.text).toBe(200)
    expect((await directory.get('/agents/agent-12345')).text).not.toContain('reputation')
  })
})

describe('metadata with reputation', () => {
  it('returns 200 after a new rating, and 304 otherwise', async () => {
    await rate(2)
    const get = (etag = '') => directory.get('/agents/agent-12345', { as: 'tokA', headers: { 'if-none-match': etag } })
    const first = await get()
    const etag = first.headers.get('etag') ?? ''
    expect((await get(etag)).status).toBe(304)
    await rate(5)
    expect(await get(etag)).toMatchObject({ status: 200, json: { verification: { reputation: { rating: 5 } } } })
  })
})
