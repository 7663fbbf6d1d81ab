import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register, search } from '../aidip/requests.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'

describe('a search in another language than the agents', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lexicon-'))
  const path = join(folder, 'ours.tsv')
  let directory: TestDirectory
  beforeAll(async () => {
    writeFileSync(path, 'expense report\tSpesenritter\n')
    directory = await startDirectory({ search: { embedder: 'none', lexicon: [{ language: 'de', path }] } })
    const agents = [
      { id: 'weather', name: 'Weather', description: 'Gives the weather forecast for any city.' },
      { id: 'contracts', name: 'Contracts', description: 'Translates contracts between languages.' },
      {
        id: 'recipes',
        name: 'Kochbuch',
        description: 'Ein Assistent, der vegetarische Rezepte für die ganze Familie sammelt.',
      },
      { id: 'expenses', name: 'Expenses', description: 'Writes an expense report from your receipts.' },
    ]
    for (const agent of agents) await register(directory, aidipAgent(agent))
  })
  afterAll(async () => {
    await directory.close()
    rmSync(folder, { recursive: true })
  })

  it.each([
    ['Wie ist die Wettervorhersage für Berlin?', 'weather'],
    ['Ich möchte einen Vertrag übersetzen', 'contracts'],
    ['请帮我翻译合同', 'contracts'],
    ['¿Puedes traducirme un contrato?', 'contracts'],
    ['教えてください、明日の天気', 'weather'],
  ])('finds for %j the agent %s', async (query, id) => {
    expect((await search(directory, { query }))[0]).toBe(id)
  })

  it('finds an agent described in German for an English query, and for one in Spanish', async () => {
    expect((await search(directory, { query: 'vegetarian recipes' }))[0]).toBe('recipes')
    expect((await search(directory, { query: 'necesito recetas vegetarianas' }))[0]).toBe('recipes')
  })

  it('reveals by no score that a private agent has a word of the query', async () => {
    const scores = async () => {
      const body = { query: 'einen Vertrag übersetzen, mit Quittung' }
      const { json } = await directory.post('/discover', { body })
      return json.candidates.map(({ id, score }: { id: string; score: number }) => [id, score])
    }
    const before = await scores()
    expect(before).toContainEqual(['contracts', expect.any(Number)])
    const words = 'Vertrag, übersetzen und Quittung, für einen kleinen Betrieb.'
    const hidden = aidipAgent({ id: 'hidden', description: words, visibility: 'private' })
    await directory.post('/agents', { as: 'tokA', body: hidden })
    expect(await scores()).toEqual(before)
    await directory.delete('/agents/hidden', { as: 'tokA' })
  })

  it('takes little time for a text that no person would write', async () => {
    const started = performance.now()
    for (const query of ['a'.repeat(200_000), '“'.repeat(80_000), 'a@ '.repeat(60_000)])
      expect((await directory.post('/agents/search', { body: { query } })).status).toBe(200)
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  it('knows the words that the operator added', async () => {
    expect((await search(directory, { query: 'Wo ist der Spesenritter?' }))[0]).toBe('expenses')
  })

  it('does not start with a lexicon that cannot be read, and says which line is wrong', async () => {
    const bad = join(folder, 'bad.tsv')
    writeFileSync(bad, 'expense report\n')
    await expect(startDirectory({ search: { lexicon: [{ language: 'de', path: bad }] } })).rejects.toThrow(
      `search.lexicon: ${bad}, line 1: write an English word`,
    )
  })
})
