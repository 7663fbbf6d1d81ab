import { describe, expect, it } from 'vitest'
import { readYaml } from './read-yaml.js'

describe('readYaml', () => {
  it('reads what JSON can say: numbers as names, dates as text', async () => {
    const text = 'responses:\n  200: {description: ok}\nsince: 2026-05-08\nlist: [1, true, null]\n'
    const value = { responses: { 200: { description: 'ok' } }, since: '2026-05-08', list: [1, true, null] }
    expect(await readYaml(text, 'a.yaml')).toEqual(value)
  })

  it('refuses what is not YAML, several documents, and aliases that swell', async () => {
    await expect(readYaml('a: [1', 'a.yaml')).rejects.toThrow(/^a\.yaml: is not valid YAML \(/)
    await expect(readYaml('a: 1\na: 2', 'a.yaml')).rejects.toThrow('unique')
    await expect(readYaml('a: 1\n---\na: 2', 'a.yaml')).rejects.toThrow('multiple documents')
    const swelling = [
      'a: &a [1, 1]',
      ...[...'bcdefghij'].map((name, i) => `${name}: &${name} [${`*${'abcdefghij'[i]},`.repeat(9)}]`),
    ]
    await expect(readYaml(swelling.join('\n'), 'a.yaml')).rejects.toThrow('alias')
  })
})
