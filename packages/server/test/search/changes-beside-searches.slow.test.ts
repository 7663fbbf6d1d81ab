import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'

const CHANGES = 10_000
const CLIENTS = 16

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory({
    search: { embedder: 'static' },
    quotas: { agents: CHANGES, bytes: 1e9 },
  })
})
afterAll(() => directory.close())

const search = async (query: string): Promise<string[]> => {
  const { json } = await directory.post('/agents/search', { as: 'tokA', body: { query, exact: true, top: 5 } })
  return json.map(({ id }: { id: string }) => id)
}

/** The nth state of an agent has a word that no other state has. */
const wordOf = (agent: number, state: number): string => `unique${agent}x${state}`

describe('10,000 changes beside searches', () => {
  it('finds every change as soon as it is acknowledged, and nothing of the state before', async () => {
    let changes = 0
    const change = async (client: number): Promise<void> => {
      for (let agent = client; changes < CHANGES; agent += CLIENTS) {
        const id = `agent-${agent}`
        for (let state = 0; state < 3; state++) {
          const body = aidipAgent({ id, name: id, description: `Knows ${wordOf(agent, state)} and much more.` })
          const { status } =
            state === 0
              ? await directory.post('/agents', { as: 'tokA', body })
              : await directory.put(`/agents/${id}`, { as: 'tokA', body })
          expect(status).toBe(state === 0 ? 201 : 200)
          changes++
          // A sample: searches take longer than changes.
          if (agent % 5 !== 0) continue
          expect(await search(wordOf(agent, state))).toEqual([id])
          if (state > 0) expect(await search(wordOf(agent, state - 1))).toEqual([])
        }
        if (agent % 7 !== 0) continue
        expect((await directory.delete(`/agents/${id}`, { as: 'tokA' })).status).toBe(204)
        changes++
        expect(await search(wordOf(agent, 2))).toEqual([])
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => change(client)))
    expect(changes).toBeGreaterThanOrEqual(CHANGES)
  }, 300_000)
})
