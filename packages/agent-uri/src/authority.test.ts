import { describe, expect, it } from 'vitest'
import { type AgentUri, AgentUriError, parseAgentUri } from './index.js'

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

describe('userinfo and port', () => {
  it('AURI-4.2-04 splits an authority into userinfo, host and port', () => {
    expect(pick('agent://user:pw@h:8443/p', 'userinfo', 'host', 'port')).toEqual(['user:pw', 'h', 8443])
    expect(pick('agent://h/p', 'userinfo', 'host', 'port')).toEqual([null, 'h', null])
    expect(pick('agent://@h/p', 'userinfo', 'host')).toEqual(['', 'h'])
    expect(code('agent://a@b@c')).toBe('invalid_userinfo')
    expect(code('agent://u/@h')).toBe('no error')
    expect(parse('agent://u/@h').host).toBe('u')
  })

  it('AURI-4.2-04 rejects an authority without a host, for every transport', () => {
    for (const text of [
      'agent://',
      'agent:///p',
      'agent://:80',
      'agent://u@',
      'agent://u@:80',
      'agent+unix:///run/x',
    ]) {
      expect(code(text)).toBe('missing_authority')
    }
  })

  it('AURI-4.2-04 accepts ports from 0 to 65535, also with leading zeros, and reads an empty port as no port', () => {
    expect(parse('agent://h:0').port).toBe(0)
    expect(parse('agent://h:65535').port).toBe(65535)
    expect(parse('agent://h:000000443').port).toBe(443)
    expect(pick('agent://h:/p', 'authority', 'port')).toEqual(['h:', null])
    for (const port of ['65536', '99999999999999999999', '-1', '80a', '1e3', '0x50', '８０']) {
      expect(code(`agent://h:${port}`)).toBe('invalid_port')
    }
  })
})

describe('hosts', () => {
  it('AURI-4.2-05 distinguishes names, IPv4 addresses and bracketed addresses', () => {
    expect(pick('agent://[2001:db8::1]:443/p', 'hostType', 'host', 'port')).toEqual(['ipv6', '[2001:db8::1]', 443])
    expect(code('agent://2001:db8::1/p')).toBe('invalid_host')
    expect(parse('agent://192.0.2.1').hostType).toBe('ipv4')
    expect(parse('agent://[v1.x:y]').hostType).toBe('ipvfuture')
    expect(parse('agent://192.0.2.1.example').hostType).toBe('reg-name')
  })

  it.each(['256.1.1.1', '1.2.3', '01.2.3.4', '1.2.3.4.5', '1.2.3.4.'])(
    'AURI-4.2-05 reads %s as a name, since it is not an IPv4 address',
    (host) => {
      expect(parse(`agent://${host}`).hostType).toBe('reg-name')
    },
  )

  it.each([
    '::',
    '::1',
    '1::',
    '1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7::',
    '::2:3:4:5:6:7:8',
    '1::8',
    '::192.0.2.1',
    '1:2:3:4:5:6:192.0.2.1',
  ])('AURI-4.2-05 reads [%s] as an IPv6 address', (address) => {
    expect(parse(`agent://[${address}]`).hostType).toBe('ipv6')
  })

  it.each([
    '',
    ':',
    ':::',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4::5:6:7:8',
    '1::2::3',
    ':1::2',
    '1::2:',
    '12345::',
    'g::',
    '192.0.2.1',
    '192.0.2.1::',
    '::192.0.2.1:1',
    '::192.0.2.256',
    'fe80::1%25en1',
    'v.x',
    'v1.',
    'v1.%41',
    'vg.x',
    '::1]',
  ])('AURI-4.2-05 rejects [%s]', (address) => {
    expect(code(`agent://[${address}]`)).toBe('invalid_host')
  })

  it('AURI-4.2-03 converts names and addresses to lower case', () => {
    expect(parse('agent://[2001:DB8::A]').host).toBe('[2001:db8::a]')
    expect(parse('agent://EX%41mple%c3%89.com').host).toBe('example%C3%89.com')
  })

  it('recognizes a percent-encoded IPv4 address', () => {
    expect(pick('agent://%3127.0.0.1', 'host', 'hostType')).toEqual(['127.0.0.1', 'ipv4'])
  })
})

describe('DIDs', () => {
  it('AURI-4.2-06 reads a bare and an encoded DID as the same', () => {
    expect(parse('agent://did:web:a.b:c/p').did).toBe('did:web:a.b:c')
    expect(parse('agent://did%3Aweb%3Aa.b%3Ac/p').did).toBe('did:web:a.b:c')
    expect(parse('agent://%64id%3Aweb%3aa%2Eb%3Ac/p').did).toBe('did:web:a.b:c')
    expect(parse('agent://did:web:h%3A8443/p').did).toBe('did:web:h%3A8443')
    expect(parse('agent://did%3Aweb%3Ah%253A8443/p').did).toBe('did:web:h%3A8443')
    expect(parse('agent://did:x:::a').did).toBe('did:x:::a')
  })

  it('AURI-4.2-06 keeps the case of a DID', () => {
    expect(parse('agent://did:key:z6MkHaX').did).toBe('did:key:z6MkHaX')
    expect(parse('agent://did%3Akey%3Az6MkHaX').did).toBe('did:key:z6MkHaX')
  })

  it('AURI-4.2-06 reads a single colon as a port and an "@" as userinfo', () => {
    expect(pick('agent://did:8080', 'hostType', 'host', 'port')).toEqual(['reg-name', 'did', 8080])
    expect(pick('agent://did:web:x@h', 'hostType', 'userinfo', 'host')).toEqual(['reg-name', 'did:web:x', 'h'])
  })

  it.each(['did:web:', 'did::x', 'DID:web:x', 'did:WEB:x', 'did:web:a~b', 'did:web:a%zz', 'did:web:x:'])(
    'AURI-4.2-06 rejects %s, which is neither a DID nor a host',
    (authority) => {
      expect(code(`agent://${authority}/p`)).toBe('invalid_host')
    },
  )

  it('AURI-4.2-06 rejects a port or userinfo with a DID', () => {
    expect(code('agent://did%3Aweb%3Ax:80/p')).toBe('invalid_port')
    expect(code('agent://u@did%3Aweb%3Ax/p')).toBe('invalid_userinfo')
    expect(code('agent://u@did:web:x/p')).toBe('invalid_host')
  })

  it('rejects a name that would become a DID in lower case', () => {
    expect(code('agent://DID%3Aweb%3Ax/p')).toBe('invalid_host')
    expect(code('agent://did%3AWeb%3Ax/p')).toBe('invalid_host')
  })
})

describe('socket paths', () => {
  it('are read from an encoded absolute path with the transport unix, and keep their case', () => {
    const text = 'agent+UNIX://%2frun%2FMy%C3%A9.sock/summarize'
    expect(pick(text, 'host', 'socketPath', 'path')).toEqual(['%2Frun%2FMy%C3%A9.sock', '/run/Myé.sock', '/summarize'])
  })

  it('are not read from a name or with another transport', () => {
    expect(parse('agent+unix://Planner/summarize')).toMatchObject({ host: 'Planner' })
    expect(parse('agent+unix://Planner/summarize')).not.toHaveProperty('socketPath')
    expect(parse('agent+local://%2Frun%2Fx.sock')).not.toHaveProperty('socketPath')
  })

  it('are rejected if they cannot be a file name', () => {
    expect(code('agent+unix://%2Frun%2Fx%00.sock')).toBe('invalid_host')
    expect(code('agent+unix://%2Frun%2F%FF')).toBe('invalid_host')
  })
})
