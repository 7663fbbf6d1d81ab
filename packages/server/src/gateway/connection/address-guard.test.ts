import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { createAddressGuard, type GuardDeps } from './address-guard.js'

const NAMES: Record<string, string[]> = {
  'agent.example': ['1.1.1.1', '2606:4700::1'],
  'private.example': ['10.0.0.7'],
  'mixed.example': ['1.1.1.1', '127.0.0.1'],
  'mapped.example': ['::ffff:10.0.0.7'],
  'nat64.example': ['64:ff9b::a9fe:a9fe'],
  'metadata.example': ['169.254.169.254'],
  'deep.corp.example': ['192.168.1.1'],
  'empty.example': [],
}

function createCheck(deps: Partial<GuardDeps> = {}) {
  const guard = createAddressGuard({
    allow: [],
    allowLoopback: false,
    self: () => [],
    resolve: async (name) => NAMES[name] ?? [],
    ...deps,
  })
  return (url: string) => guard.check(new URL(url))
}
const refusal = (code: string) => expect.objectContaining({ name: 'GatewayError', code, mayHaveRun: false })

describe('the address guard', () => {
  it('returns the addresses of a public name', async () => {
    expect(await createCheck()('https://agent.example/x')).toEqual(['1.1.1.1', '2606:4700:0:0:0:0:0:1'])
    expect(await createCheck()('wss://1.1.1.1:8443')).toEqual(['1.1.1.1'])
  })

  it.each([
    'https://private.example',
    'https://mixed.example',
    'https://mapped.example',
    'https://nat64.example',
    'https://metadata.example',
    'https://10.0.0.1',
    'https://192.168.0.1:8443',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1',
    'https://0.0.0.0',
    'https://[::]',
    'https://[::1]',
    'https://[fe80::1]',
    'https://[fd00::1]',
    'https://[::ffff:127.0.0.1]',
    'https://[64:ff9b::7f00:1]',
    'https://[2002:7f00:1::]',
    'https://127.0.0.1',
    'https://localhost',
    'https://LOCALHOST.',
    'https://a.localhost',
    'https://0x7f.1',
    'https://2130706433',
    'https://0177.0.0.1',
    'https://①②⑦.0.0.1',
  ])('blocks %s', async (url) => {
    await expect(createCheck()(url)).rejects.toEqual(refusal('blocked'))
  })

  it.each(['http://agent.example', 'ws://agent.example', 'http://127.0.0.1', 'http://1.1.1.1'])(
    'AIDIP-9-02 blocks %s in production because it is not encrypted',
    async (url) => {
      await expect(createCheck()(url)).rejects.toEqual(refusal('blocked'))
    },
  )

  it('with allowLoopback allows loopback addresses, even without TLS, and no other internal ones', async () => {
    const check = createCheck({ allowLoopback: true })
    expect(await check('http://127.0.0.1:9000')).toEqual(['127.0.0.1'])
    expect(await check('http://localhost:9000')).toEqual(['127.0.0.1', '0:0:0:0:0:0:0:1'])
    expect(await check('https://[::1]')).toHaveLength(1)
    for (const url of ['http://agent.example', 'https://10.0.0.1', 'http://10.0.0.1', 'https://0.0.0.0']) {
      await expect(check(url), url).rejects.toEqual(refusal('blocked'))
    }
  })

  it('rejects other schemes, and credentials in the URL', async () => {
    for (const url of ['ftp://agent.example', 'file:///etc/passwd', 'gopher://agent.example']) {
      await expect(createCheck()(url), url).rejects.toEqual(refusal('blocked'))
    }
    await expect(createCheck()('https://user:pw@agent.example')).rejects.toEqual(refusal('blocked'))
  })

  it('reports a name without addresses as unreachable', async () => {
    await expect(createCheck()('https://empty.example')).rejects.toEqual(refusal('unreachable'))
  })

  it('allows the ranges, names and origins that the operator lists', async () => {
    const check = createCheck({ allow: ['10.0.0.0/24', '*.corp.example', 'http://10.9.9.9:8040', 'fd00::/8'] })
    expect(await check('https://10.0.0.1')).toEqual(['10.0.0.1'])
    expect(await check('https://private.example')).toEqual(['10.0.0.7'])
    expect(await check('https://[fd00::1]')).toHaveLength(1)
    expect(await check('https://deep.corp.example')).toEqual(['192.168.1.1'])
    expect(await check('http://10.9.9.9:8040/x')).toEqual(['10.9.9.9'])
    for (const url of [
      'https://10.0.1.1',
      'http://10.0.0.1',
      'https://corp.example.evil.example',
      'http://deep.corp.example',
      'http://10.9.9.9:8041',
      'https://10.9.9.9:8040',
    ]) {
      await expect(check(url), url).rejects.toMatchObject({ code: expect.stringMatching(/blocked|unreachable/) })
    }
  })

  it('allows a metadata service only if its exact address is listed', async () => {
    for (const allow of [['169.254.0.0/16'], ['metadata.example'], ['0.0.0.0/0']]) {
      await expect(createCheck({ allow })('https://metadata.example'), allow[0]).rejects.toEqual(refusal('blocked'))
    }
    expect(await createCheck({ allow: ['169.254.169.254'] })('https://metadata.example')).toHaveLength(1)
  })

  it('lets the system resolve only names that the operator allowed', async () => {
    const lookups: unknown[] = []
    const check = createCheck({
      allow: ['*.corp.example'],
      resolve: async (name, { isTrusted }) => {
        lookups.push([name, isTrusted])
        return ['1.1.1.1']
      },
    })
    await check('https://a.corp.example')
    await check('https://agent.example')
    expect(lookups).toEqual([
      ['a.corp.example', true],
      ['agent.example', false],
    ])
  })

  it.each(['10.0.0.0/40', 'not a host', 'ftp://x', ''])('throws if %j is in the allow list', (entry) => {
    expect(() => createCheck({ allow: [entry] })).toThrow(TypeError)
  })

  describe('detects loops', () => {
    const self = () => ['http://127.0.0.1:8040', 'https://directory.example']

    it.each([
      'http://127.0.0.1:8040/agents/x/invoke',
      'http://localhost:8040',
      'http://[::ffff:127.0.0.1]:8040',
      'http://2130706433:8040',
      'https://directory.example/agents/x/invoke',
      'https://DIRECTORY.example.:443',
    ])('%s', async (url) => {
      await expect(createCheck({ allowLoopback: true, self })(url)).rejects.toEqual(refusal('loop'))
    })

    it('but allows other ports of the same host', async () => {
      const check = createCheck({ allowLoopback: true, self, resolve: async () => ['1.1.1.1'] })
      expect(await check('http://127.0.0.1:8041')).toHaveLength(1)
      expect(await check('https://directory.example:8443')).toHaveLength(1)
    })

    it('through any address of the machine if it listens on all', async () => {
      const check = createCheck({ allow: ['0.0.0.0/0'], allowLoopback: true, self: () => ['http://0.0.0.0:8040'] })
      const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
      for (const { address } of own.filter(({ family }) => family === 'IPv4')) {
        await expect(check(`https://${address}:8040`), address).rejects.toEqual(refusal('loop'))
      }
      await expect(check('http://127.0.0.1:8040')).rejects.toEqual(refusal('loop'))
    })

    it('through a name that resolves to this gateway', async () => {
      const check = createCheck({ allow: ['*.example'], self, resolve: async () => ['127.0.0.1'] })
      await expect(check('https://alias.example:8040')).rejects.toEqual(refusal('loop'))
    })
  })
})
