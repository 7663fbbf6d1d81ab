import { describe, expect, it } from 'vitest'
import { buildAgentUri, type FormattableUri, formatAgentUri, normalizeAgentUri, parseAgentUri } from './index.js'

const format = (text: string) => formatAgentUri(parseAgentUri(text))
const refusal = (code: string) => expect.objectContaining({ name: 'AgentUriError', code })

describe('formatAgentUri', () => {
  it('AURI-4.2-06 percent-encodes a DID, or writes it with bare colons on request', () => {
    const uri = parseAgentUri('agent://did:web:h%3A8443:agent/p?a=1#f')
    expect(formatAgentUri(uri)).toBe('agent://did%3Aweb%3Ah%253A8443%3Aagent/p?a=1#f')
    expect(formatAgentUri(uri, { raw: true })).toBe('agent://did:web:h%3A8443:agent/p?a=1#f')
  })

  it('leaves out the password in the userinfo', () => {
    expect(format('agent://user:pw:x@h/p')).toBe('agent://user@h/p')
    expect(format('agent://user%3Aname@h/p')).toBe('agent://user%3Aname@h/p')
    expect(format('agent://:pw@h/p')).toBe('agent://@h/p')
  })

  it('keeps empty parts, except an empty port', () => {
    expect(format('agent://h:/?#')).toBe('agent://h/?#')
    expect(format('agent://h')).toBe('agent://h')
  })

  const parsed = parseAgentUri('agent+wss://h:1/p?q#f')
  it.each<[string, Partial<FormattableUri>]>([
    ['invalid_transport', { transport: 'wss://evil.example/' }],
    ['invalid_transport', { transport: '' }],
    ['invalid_userinfo', { userinfo: 'u@evil.example/' }],
    ['missing_authority', { host: '' }],
    ['invalid_host', { host: 'evil.example/p' }],
    ['invalid_host', { host: 'u@evil.example' }],
    ['invalid_host', { host: 'evil.example:80' }],
    ['invalid_host', { host: '[::1' }],
    ['invalid_host', { host: '[' }],
    ['invalid_host', { host: '::1' }],
    ['invalid_port', { host: 'did:web:x' }],
    ['invalid_userinfo', { host: 'did:web:x', userinfo: 'u', port: null }],
    ['invalid_port', { port: -1 }],
    ['invalid_port', { port: 1.5 }],
    ['invalid_port', { port: 65_536 }],
    ['invalid_path', { path: '.evil.example' }],
    ['invalid_path', { path: '/p?x' }],
    ['invalid_query', { query: 'a#b' }],
    ['invalid_fragment', { fragment: 'a#b' }],
  ])('throws %s for %j, which would become another part of the URI', (code, change) => {
    expect(() => formatAgentUri({ ...parsed, ...change })).toThrow(refusal(code))
  })
})

describe('normalizeAgentUri', () => {
  it('AURI-4.2-09 writes hexadecimal digits in upper case and decodes unreserved characters', () => {
    expect(normalizeAgentUri('agent://h/%c3%a9')).toBe('agent://h/%C3%A9')
    expect(normalizeAgentUri('agent://%75%2d:%7e@h/%7e%2f%257e?%41=%2b#%5f')).toBe('agent://u-:~@h/~%2F%257e?A=%2B#_')
  })

  it('AURI-4.1-02 does not collapse the path', () => {
    expect(normalizeAgentUri('agent://h/a//b/./../c/')).toBe('agent://h/a//b/./../c/')
  })

  it('AURI-4.2-03 gives equivalent URIs the same form', () => {
    expect(normalizeAgentUri('AGENT+HTTPS://u@Ex%41mple.COM:0443/P')).toBe('agent+https://u@example.com:443/P')
    expect(normalizeAgentUri('agent+unix://%2frun%2fMy.sock')).toBe('agent+unix://%2Frun%2FMy.sock')
  })

  it('keeps the userinfo', () => {
    expect(normalizeAgentUri('agent://user:pw@h/p')).toBe('agent://user:pw@h/p')
  })
})

describe('buildAgentUri', () => {
  it('builds a URI from all its parts', () => {
    const spec = { transport: 'HTTPS', host: 'Example.com', port: 8443, path: '/p', params: { a: 1 }, fragment: 'f' }
    expect(buildAgentUri(spec)).toBe('agent+https://example.com:8443/p?a=1#f')
  })

  it('accepts a DID as host', () => {
    expect(buildAgentUri({ host: 'did:web:example.com' })).toBe('agent://did%3Aweb%3Aexample.com')
    expect(buildAgentUri({ host: 'did:web:example.com' }, { raw: true })).toBe('agent://did:web:example.com')
  })

  it('rejects a path that does not start with "/"', () => {
    expect(() => buildAgentUri({ host: 'h', path: 'p' })).toThrow(refusal('invalid_path'))
  })
})
