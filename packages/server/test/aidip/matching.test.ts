import { readFileSync } from 'node:fs'
import { validateDocument } from '@switchboard/protocol'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent, fixture } from '../support/documents.js'

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterEach(() => directory.clear())
afterAll(() => directory.close())

const register = async (changes: Parameters<typeof aidipAgent>[0]): Promise<void> => {
  const { status } = await directory.post('/agents', { as: 'tokA', body: aidipAgent(changes) })
  expect(status).toBe(201)
}
const search = async (query: string): Promise<{ id: string; score: number }[]> =>
  (await directory.post('/agents/search', { body: { query, top: 100 } })).json

it('AIDIP00-5.3-02 finds an agent by a word that occurs only in the description of an operation', async () => {
  const operations = [{ name: 'run', description: 'Solves a sudoku.', inputs: {}, outputs: {} }]
  await register({ id: 'puzzler', operations })
  await register({ id: 'other' })
  expect((await search('sudoku')).map(({ id }) => id)).toEqual(['puzzler'])
})

it('AIDIP00-5.3-03 AIDIP00-5.3-05 scores every query from 0 to 1, and sorts the list by score', async () => {
  const words = ['alpha', 'beta', 'gamma', 'delta', 'translate', 'chinese']
  await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      register({ id: `a${i}`, description: words.filter((_w, k) => i & (1 << k)).join(' ') }),
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fc.constantFrom(...words), fc.string()), { maxLength: 6 }), async (picked) => {
      const scores = (await search(`alpha ${picked.join(' ')}`)).map(({ score }) => score)
      expect(scores.length).toBeGreaterThan(0)
      expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true)
      expect(scores).toEqual([...scores].sort((a, b) => b - a))
    }),
    { numRuns: 100 },
  )
})

it('AIDIP00-5.4-01 lists the agents that an administrator uploads as a file', async () => {
  const raw = `${JSON.stringify(fixture('FX-T00'))}\n`
  const { text } = await directory.post('/admin/import', { as: 'admin', raw })
  expect(JSON.parse(text)).toMatchObject({ line: 1, status: 'created', id: 'translator-001' })
  expect((await directory.get('/agents/public')).json.agents).toMatchObject([{ id: 'translator-001' }])
})

it('AIDIP00-5.4-05 omits the best match if the client may not see it', async () => {
  await register({ id: 'hidden', description: 'translates product descriptions', visibility: 'private' })
  await register({ id: 'plain', description: 'translates' })
  expect((await search('translates product descriptions')).map(({ id }) => id)).toEqual(['plain'])
})

it('AIDIP00-4-02 serves its own card at the standard URL', async () => {
  const { status, headers, json } = await directory.get('/.well-known/agent-card.json')
  expect(status).toBe(200)
  expect(headers.get('content-type')).toMatch(/^application\/json/)
  expect(validateDocument('a2a', json)).toEqual([])
})

it('PROF-4.7-06 documents the extensions that affect discovery and visibility', () => {
  const guide = readFileSync(new URL('../../../../docs/publishing.md', import.meta.url), 'utf8')
  for (const extension of ['visibility', 'private', 'redacted', 'sequence']) expect(guide).toContain(extension)
})
