import { describe, expect, it } from 'vitest'
import { airUrnOf, idOfAirUrn, parseAirUrn, publisherOf } from './air-urn.js'

/** The patterns of ARD's conformance tool and of its schema. */
const PATTERNS = [
  /^urn:air:([a-zA-Z0-9.-]+)(?::([a-zA-Z0-9._:-]+))?:([a-zA-Z0-9._-]+)$/,
  /^urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+$/,
]

describe('identifiers of ARD (0.91, appendix C)', () => {
  it.each([
    ['translator', 'translator'],
    ['io.github.acme/weather', 'io.github.acme:weather'],
    ['my_agent', 'my_agent'],
    ['a b', 'a_x20b'],
    ['https://a.example/x', 'https_x3a_x2f_x2fa.example:x'],
    ['/start/', '_x2fstart_x2f'],
    ['_x41', '_x5fx41'],
    ['Übersetzer', '_xc3_x9cbersetzer'],
    ['100%', '100_x25'],
  ])('writes the id %s as %s and reads it back', (id, segments) => {
    const urn = airUrnOf('directory.example', id)
    expect(urn).toBe(`urn:air:directory.example:agent:${segments}`)
    for (const pattern of PATTERNS) expect(urn).toMatch(pattern)
    expect(idOfAirUrn(parseAirUrn(urn) ?? { publisher: '', segments: [] })).toBe(id)
  })

  it.each([
    '',
    'urn:air:acme.com',
    'urn:ai:acme.com:agent:x',
    'urn:air:acme.com:agent:',
    'urn:air:acme com:agent:x',
    'urn:air:acme.com:agent:a/b',
    `urn:air:acme.com:${'a'.repeat(9000)}`,
  ])('rejects %s', (text) => {
    expect(parseAirUrn(text)).toBeUndefined()
  })

  it('does not read an id from another namespace, or from bytes that are not UTF-8', () => {
    for (const urn of ['urn:air:a.example:server:x', 'urn:air:a.example:agent', 'urn:air:a.example:agent:_xff'])
      expect(idOfAirUrn(parseAirUrn(urn) ?? { publisher: '', segments: [] }), urn).toBeUndefined()
  })

  it('takes the publisher from the host, and a placeholder if that is not a domain name', () => {
    expect(publisherOf('https://directory.example:8443/base')).toBe('directory.example')
    for (const url of ['http://127.0.0.1:8040', 'http://localhost', 'https://[::1]', 'http://intranet', 'nonsense'])
      expect(publisherOf(url), url).toBe('agent.localhost')
  })
})
