import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { setUp } from '../invoke/setup.js'
import { ROOT } from '../support/process.js'
import { parseSamples, parseTypes } from './samples.js'

const setup = setUp()

/** The rows of the tables: metric, type and labels. */
const rows = [
  ...readFileSync(join(ROOT, 'docs/reference/metrics.md'), 'utf8').matchAll(
    /^\| `(\w+)` \| (\w+) \| (.*?) ?\| \S.* \|$/gm,
  ),
].map(([, name = '', type = '', labels = '']) => ({
  name,
  type,
  labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
}))

describe('docs/reference/metrics.md', () => {
  it('describes exactly the metrics that there are, with their types and labels', async () => {
    const { directory } = setup
    await setup.register()
    await directory.post('/agents/search', { body: { query: 'an agent for tests' } })
    await setup.call({ text: 'hello' })
    const { text } = await directory.get('/metrics')
    const types = parseTypes(text)
    expect(rows.map(({ name, type }) => `${name} ${type}`).sort()).toEqual(
      Array.from(types, ([name, type]) => `${name} ${type}`).sort(),
    )
    for (const { name, labels } of parseSamples(text)) {
      const metric = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
      const documented = rows.find((row) => row.name === metric)
      const used = Object.keys(labels).filter((label) => label !== 'le')
      expect(used.sort(), name).toEqual(documented?.labels.sort())
    }
  })
})
