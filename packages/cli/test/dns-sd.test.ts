import { describe, expect, it } from 'vitest'
import { runQuietly } from './support/run-quietly.js'

describe('switchboard dns-sd', () => {
  it('AD-3.2-01 prints the records of a directory for a zone file', async () => {
    const { code, stdout } = await runQuietly([
      ...[
        'dns-sd',
        'example.com',
        '--url',
        'https://directory.example.com:8443',
        '--name',
        'Our agents',
        '--ttl',
        '60',
      ],
    ])
    expect(code).toBe(0)
    expect(stdout.split('\n')).toEqual([
      '_services._dns-sd._udp.example.com. 60 IN PTR _ad._tcp.example.com.',
      '_ad._tcp.example.com. 60 IN PTR Our\\032agents._ad._tcp.example.com.',
      'Our\\032agents._ad._tcp.example.com. 60 IN SRV 0 0 8443 directory.example.com.',
      'Our\\032agents._ad._tcp.example.com. 60 IN TXT "txtvers=1" "path=/.well-known/ad" "tls=1"',
      '',
    ])
  })

  it('states a URL with a path, which SRV records cannot have', async () => {
    const { stdout } = await runQuietly(['dns-sd', 'example.com', '--url', 'https://example.com/agents', '--json'])
    expect(JSON.parse(stdout).at(-1)).toMatchObject({
      type: 'TXT',
      data: expect.stringContaining('"url=https://example.com/agents"'),
    })
  })

  it.each([
    [['dns-sd'], 'use: switchboard dns-sd DOMAIN'],
    [['dns-sd', 'a b', '--url', 'https://d.example'], 'is not a domain name'],
    [['dns-sd', 'example.com', '--url', 'http://127.0.0.1:8040'], 'needs a host name'],
    [['find-directory', 'example.com'], '--domain'],
    [['find-directory', '--timeout', 'x'], '--timeout'],
  ])('rejects %j with exit code 2', async (args, reason) => {
    expect(await runQuietly(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) })
  })

  it.each(['dns-sd', 'find-directory'])('%s explains itself', async (command) => {
    expect(await runQuietly([command, '--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('Example') })
  })
})
