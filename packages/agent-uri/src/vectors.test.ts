import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formatAgentUri, normalizeAgentUri, parseAgentUri } from './index.js'

// The uri.parse vectors of the specification, unchanged.
interface Vector {
  id: string
  input: string
  expect: { valid: true; normalized: string } | { valid: false; error: string }
}
const vectors: Vector[] = JSON.parse(readFileSync(new URL('../test-data/uri-parse.json', import.meta.url), 'utf8'))

describe('the vectors', () => {
  it.each(vectors)('$id: $input', ({ input, expect: expected }) => {
    if (!expected.valid) {
      const refusal = expect.objectContaining({ name: 'AgentUriError', code: expected.error })
      expect(() => parseAgentUri(input)).toThrow(refusal)
      expect(() => normalizeAgentUri(input)).toThrow(refusal)
      return
    }
    const { valid: _valid, normalized, ...parts } = expected
    expect(parseAgentUri(input)).toMatchObject(parts)
    expect(normalizeAgentUri(input)).toBe(normalized)
  })

  it('are complete', () => {
    expect(vectors).toHaveLength(85)
  })

  it('AURI-4-03 formats a parsed URI as an equivalent one, without the password', () => {
    for (const { input, expect: expected } of vectors) {
      if (!expected.valid) continue
      const uri = parseAgentUri(input)
      const withoutPassword = expected.normalized.replace(/\/\/([^:@/]*):[^@/]*@/, '//$1@')
      expect(formatAgentUri(uri)).toBe(withoutPassword)
      expect(normalizeAgentUri(formatAgentUri(uri, { raw: true }))).toBe(withoutPassword)
    }
  })
})
