import { describe, expect, it } from 'vitest'
import { type AgentUri, AgentUriError, parseAgentUri } from './index.js'

const PUBLISHED_EXAMPLES = [
  'agent://example.com/planning/gen-iti?city=Paris',
  'agent://planner.example.com/claude?text=Hello',
  'agent+https://example.com/assistants/chatgpt?query=hello',
  'agent+local://examplelocalagent',
  'agent://did:web:example.com:agent:researcher/get-article?doi=...',
]

const parse = parseAgentUri
const pick = (text: string, ...names: (keyof AgentUri)[]) => names.map((name) => parse(text)[name])

function code(text: string): string {
  try {
    parse(text)
  } catch (error) {
    return error instanceof AgentUriError ? error.code : String(error)
  }
  return 'no error'
}

describe('the forms of a URI', () => {
  it('AURI-1-01 addresses cloud, device, on-premises and decentralised agents alike', () => {
    expect(pick('agent+https://cloud.example/a', 'transport', 'host')).toEqual(['https', 'cloud.example'])
    expect(pick('agent+local://assistant', 'transport', 'host')).toEqual(['local', 'assistant'])
    expect(pick('agent://intranet-host/a', 'transport', 'host')).toEqual([null, 'intranet-host'])
    expect(pick('agent://did:web:example.com/a', 'transport', 'hostType')).toEqual([null, 'did'])
  })

  it.each(PUBLISHED_EXAMPLES)('AURI-4-01 reads the published example %s', (text) => {
    const { transport, authority, path, query } = parse(text)
    const scheme = transport === null ? 'agent' : `agent+${transport}`
    expect(`${scheme}://${authority}${path}${query === null ? '' : `?${query}`}`).toBe(text)
  })

  it('AURI-4-02 reads a query and a fragment after a transport too', () => {
    const text = 'agent+https://example.com/assistants/chatgpt?query=hello#sub'
    expect(pick(text, 'transport', 'query', 'fragment')).toEqual(['https', 'query=hello', 'sub'])
  })

  it('AURI-12.1-01 accepts a scheme, transport, opaque path, key-value query and fragment as registered', () => {
    expect(parse('agent+wss://h/a/../b?k=v#sub')).toEqual({
      scheme: 'agent',
      transport: 'wss',
      authority: 'h',
      userinfo: null,
      host: 'h',
      hostType: 'reg-name',
      port: null,
      path: '/a/../b',
      query: 'k=v',
      fragment: 'sub',
      params: { k: 'v' },
    })
    expect(code('agent:+wss://h/p')).toBe('missing_authority')
  })
})

describe('components', () => {
  it('AURI-4.1-01 distinguishes a DNS name from a DID in the authority', () => {
    const did = 'did:web:example.com:agent:researcher'
    expect(pick(`agent://${did}/get-article`, 'hostType', 'did', 'host')).toEqual(['did', did, did])
    expect(pick('agent://example.com/get-article', 'hostType', 'host')).toEqual(['reg-name', 'example.com'])
    expect(parse('agent://example.com')).not.toHaveProperty('did')
  })

  it('AURI-4.1-02 leaves the path unchanged', () => {
    expect(parse('agent://h/a//b/../c').path).toBe('/a//b/../c')
    expect(parse('agent://h/./%7Ea%2Fb/').path).toBe('/./%7Ea%2Fb/')
  })

  it('AURI-4.1-05 separates the fragment from what is sent', () => {
    expect(pick('agent://h/p#sub', 'path', 'query', 'fragment')).toEqual(['/p', null, 'sub'])
    expect(pick('agent://h/p?a=1#sub?b', 'path', 'query', 'fragment')).toEqual(['/p', 'a=1', 'sub?b'])
    expect(parse('agent://h/p').fragment).toBeNull()
  })

  it('AURI-4.1-06 reads the transport; null if there is none', () => {
    expect(parse('agent+wss://h').transport).toBe('wss')
    expect(parse('agent://h').transport).toBeNull()
  })
})

describe('scheme and transport', () => {
  it('AURI-4.2-01 requires "agent", an optional transport and "://"', () => {
    expect(code('agent:/h')).toBe('missing_authority')
    expect(code('agent:/host/p')).toBe('missing_authority')
    expect(code('agent:h')).toBe('missing_authority')
    expect(code('agent+https:h')).toBe('missing_authority')
    expect(code('agent//h')).toBe('invalid_scheme')
    expect(code('agent+https//h:80')).toBe('invalid_scheme')
    expect(code('agentx://h')).toBe('invalid_scheme')
    expect(code('http://h')).toBe('invalid_scheme')
    expect(code('')).toBe('invalid_scheme')
  })

  it.each(['', 'h_2', 'a.b', 'a+b', 'a%41', 'a b', 'é'])('AURI-4.2-02 rejects the transport "%s"', (transport) => {
    expect(code(`agent+${transport}://h`)).toBe('invalid_transport')
  })

  it.each(['https', '9p', '-', 'x-my-2'])('AURI-4.2-02 accepts the transport "%s"', (transport) => {
    expect(parse(`agent+${transport}://h`).transport).toBe(transport)
  })

  it('AURI-4.2-03 ignores the case of scheme, transport and host, but not of the path', () => {
    const text = 'AGENT+HTTPS://Example.COM/P'
    expect(pick(text, 'scheme', 'transport', 'host', 'path')).toEqual(['agent', 'https', 'example.com', '/P'])
  })
})

describe('path, query and fragment', () => {
  it('AURI-4.2-07 requires a path that is empty or starts with "/"', () => {
    expect(parse('agent://h').path).toBe('')
    expect(parse('agent://h/').path).toBe('/')
    expect(pick('agent://h?x=1', 'path', 'query')).toEqual(['', 'x=1'])
    expect(pick('agent://h#f', 'path', 'query', 'fragment')).toEqual(['', null, 'f'])
  })

  it('AURI-4.2-08 allows pchar, "/" and "?" in query and fragment', () => {
    expect(pick('agent://h/p?a=b/c?d#e/f?g', 'query', 'fragment')).toEqual(['a=b/c?d', 'e/f?g'])
    expect(code('agent://h/p?a[0]=1')).toBe('invalid_query')
    expect(code('agent://h/p#a[0]')).toBe('invalid_fragment')
    expect(code('agent://h/p#a#b')).toBe('invalid_fragment')
  })

  it('AURI-4.2-09 requires two hexadecimal digits after "%", in every part', () => {
    expect(parse('agent://h/%c3%a9').path).toBe('/%c3%a9')
    for (const broken of ['%', '%4', '%zz', '%4g', '%%41']) {
      expect(code(`agent://u${broken}@h/p`)).toBe('invalid_userinfo')
      expect(code(`agent://h${broken}/p`)).toBe('invalid_host')
      expect(code(`agent://h/${broken}`)).toBe('invalid_path')
      expect(code(`agent://h/p?${broken}`)).toBe('invalid_query')
      expect(code(`agent://h/p#${broken}`)).toBe('invalid_fragment')
    }
  })

  it.each([' ', '\t', '\n', '\0', '\x7f', '"', '<', '>', '\\', '^', '`', '{', '|', '}', '[', ']', 'é', '😀'])(
    'AURI-4.2-10 rejects %j in every part',
    (character) => {
      expect(code(`agent://u${character}@h/p`)).toBe('invalid_userinfo')
      expect(code(`agent://h${character}/p`)).toBe('invalid_host')
      expect(code(`agent://h/a${character}b`)).toBe('invalid_path')
      expect(code(`agent://h/p?a${character}b`)).toBe('invalid_query')
      expect(code(`agent://h/p#a${character}b`)).toBe('invalid_fragment')
    },
  )

  it('AURI-4.2-10 accepts every legal character in path, query and fragment', () => {
    const legal = "AZaz09-._~!$&'()*+,;=:@%20/"
    expect(parse(`agent://h/${legal}`).path).toBe(`/${legal}`)
    expect(pick(`agent://h?${legal}?#${legal}?`, 'query', 'fragment')).toEqual([`${legal}?`, `${legal}?`])
  })
})

describe('errors', () => {
  it('say what is wrong and where', () => {
    const error = new AgentUriError('invalid_path', 'U+00E9 is not allowed in the path', 10)
    expect(() => parse('agent://h/é')).toThrow(error)
    expect(error).toMatchObject({ name: 'AgentUriError', code: 'invalid_path', position: 10 })
    expect(error.message).toBe('U+00E9 is not allowed in the path at position 10')
  })

  it.each([
    ['agent+a.b://h', 7],
    ['agent:h', 6],
    ['agent://u@/p', 10],
    ['agent://u@h:x/p', 12],
    ['agent://u@h<', 11],
    ['agent://h?a#b#c', 13],
  ])('give the position in %s: %i', (text, position) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ position }))
  })

  it('do not contain a password', () => {
    expect(() => parse('agent://user:secret[@h/p')).toThrow(/^(?!.*secret)/)
  })
})
