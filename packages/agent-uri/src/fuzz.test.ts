import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AgentUriError, buildAgentUri, formatAgentUri, normalizeAgentUri, parseAgentUri } from './index.js'

const RUNS = { numRuns: 3000 }
const LONG = 1_000_000
/** Linear time takes less than half a second even on a slow machine; quadratic time takes minutes. */
const LONG_LIMIT_MS = 4000

const SEEDS = [
  'agent://example.com/planning/gen-iti?city=Paris',
  'agent+https://u:pw@Example.com:0443/a//b/../c?tag=a&tag=b&flag#sub',
  'agent://did:web:localhost%3A8443:agent/p?doi=...',
  'agent://did%3Aweb%3Aexample.com%3Aagent/get-article#x',
  'agent+unix://%2Frun%2FMyAgent.sock/summarize',
  'agent://[2001:db8::7]:8443/p?q=Hello+World%21',
  'agent://[v1.fe80::a+en1]/%7Euser/%c3%a9',
  'agent://192.0.2.16:80/p',
]
/** Delimiters and other significant text, so that changing one piece often takes another branch of the parser. */
const PIECES = [...': / ? # @ % %3A %2F %41 %ff [ ] :: + & = did: DID é 65536'.split(' '), '', '\0']

const edit = fc.record({ at: fc.nat(80), remove: fc.nat(4), insert: fc.constantFrom(...PIECES) })
const mutated = fc
  .tuple(fc.constantFrom(...SEEDS), fc.array(edit, { maxLength: 4 }))
  .map(([seed, edits]) =>
    edits.reduce((text, { at, remove, insert }) => text.slice(0, at) + insert + text.slice(at + remove), seed),
  )
const assembled = fc.array(fc.constantFrom(...PIECES, 'a', 'B', 'web', '1', 'unix://', '.'), { maxLength: 12 })
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'binary' }).map((text) => `agent://${text}`),
  assembled.map((pieces) => `agent://${pieces.join('')}`),
  assembled.map((pieces) => `agent+${pieces.join('')}`),
  mutated,
)

/** Returns undefined if the text is not an agent URI; any other error fails the test. */
function tryParse(text: string) {
  try {
    return parseAgentUri(text)
  } catch (error) {
    if (error instanceof AgentUriError && error.position <= text.length) return undefined
    throw error
  }
}

describe('any text', () => {
  it('is parsed or rejected, and the formatted URI parses to the same parts', () => {
    fc.assert(
      fc.property(anyText, fc.boolean(), (text, raw) => {
        const uri = tryParse(text)
        if (uri === undefined) return
        const written = formatAgentUri(uri, { raw })
        const again = parseAgentUri(written)
        expect(formatAgentUri(again, { raw })).toBe(written)
        const { transport, host, hostType, port, params, did, socketPath } = uri
        expect(again).toMatchObject({ transport, host, hostType, port, params })
        expect([again.did, again.socketPath]).toEqual([did, socketPath])
      }),
      RUNS,
    )
  })

  it('has a normal form that does not change when normalized again', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        if (tryParse(text) === undefined) return
        const normal = normalizeAgentUri(text)
        expect(normalizeAgentUri(normal)).toBe(normal)
      }),
      RUNS,
    )
  })
})

describe('any parameters', () => {
  const value = fc.string({ unit: 'grapheme' })
  const anyParams = fc.dictionary(value, fc.oneof(value, fc.array(value, { minLength: 2 })), { noNullPrototype: true })

  it('AURI-4.1-03 round-trip unchanged', () => {
    fc.assert(
      fc.property(anyParams, (params) => {
        const uri = parseAgentUri(buildAgentUri({ host: 'h', params }))
        expect(uri.params ?? {}).toEqual(params)
        expect(uri.query ?? '').not.toContain('+')
      }),
    )
  })
})

describe('a megabyte', () => {
  it.each([
    ['transport', 'agent+', 'a', '://h'],
    ['bad transport', 'agent+', '.', '://h'],
    ['name', 'agent://', 'aB', ''],
    ['encoded name', 'agent://', '%41', ''],
    ['at signs', 'agent://', '@', ''],
    ['colons', 'agent://', ':', '/'],
    ['colons in brackets', 'agent://[', ':1', ']'],
    ['open brackets', 'agent://', '[', ''],
    ['IP future', 'agent://[v', '1', ']'],
    ['numbers', 'agent://', '1.', ''],
    ['port', 'agent://h:', '0', '1'],
    ['DID', 'agent://did:web:', 'a:', 'b'],
    ['almost a DID', 'agent://did:web:', 'a:', ''],
    ['encoded DID', 'agent://did%3Aweb%3Aa', '%3Aa', ''],
    ['socket path', 'agent+unix://', '%2Frun', ''],
    ['path', 'agent://h', '/..', ''],
    ['broken path', 'agent://h/', '%41', '%'],
    ['query of pairs', 'agent://h?', 'a=1&', ''],
    ['query of octets', 'agent://h?', '%ff', ''],
    ['query of broken UTF-8', 'agent://h?', '%F0%9F%98', ''],
    ['query of question marks', 'agent://h', '?', ''],
    ['fragments', 'agent://h', '#', ''],
  ])('of %s is handled quickly', (_name, start, repeated, end) => {
    const text = start + repeated.repeat(LONG / repeated.length) + end
    const startedAt = performance.now()
    const uri = tryParse(text)
    if (uri !== undefined) formatAgentUri(uri)
    expect(performance.now() - startedAt).toBeLessThan(LONG_LIMIT_MS)
  })
})
