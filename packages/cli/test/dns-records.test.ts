import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aidip, type Bench, startBench } from './support/cli.js'
import { runQuietly } from './support/run-quietly.js'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
  const agents = [
    aidip('translator', {
      endpoint: 'https://agents.example.com/t',
      version: '1.0.0',
      capabilities: ['translate', 'say "hi"; drop'],
    }),
    {
      name: 'com.example/planner',
      description: 'Plans trips.',
      version: '2.0.0',
      remotes: [{ type: 'streamable-http', url: 'https://elsewhere.example.net:8443/mcp' }],
    },
    aidip('other', { endpoint: 'https://notexample.com/' }),
    aidip('addressed', { endpoint: 'https://192.0.2.7/' }),
    aidip('https://example.com/team/translator', { endpoint: 'https://example.com/second' }),
  ]
  for (const [i, agent] of agents.entries()) await bench.cli('register', bench.file(`${i}.json`, agent))
})
afterAll(() => bench.close())

describe('switchboard dns-records', () => {
  it('prints the records of the agents of a domain, and says which are left out', async () => {
    const { code, stdout, stderr } = await bench.cli('dns-records', 'example.com', '--ttl', '60')
    expect(stdout.trim().split('\n')).toEqual([
      '_index._agents.example.com. 60 IN TXT "agents=translator:https,planner:mcp"',
      'translator.example.com. 60 IN SVCB 1 agents.example.com. alpn="http/1.1" port=443',
      'translator.example.com. 60 IN TXT "capabilities=translate,say \\034hi\\034; drop" "version=1.0.0"',
      'translator._agents.example.com. 60 IN SVCB 0 translator.example.com.',
      'planner.example.com. 60 IN SVCB 1 elsewhere.example.net. alpn="mcp" port=8443',
      'planner.example.com. 60 IN TXT "version=2.0.0"',
      'planner._agents.example.com. 60 IN SVCB 0 planner.example.com.',
    ])
    expect(stderr).toContain('https://example.com/team/translator is left out: another agent has the name translator')
    expect(code).toBe(0)
  })

  it('prints the records of the agents that are named, as JSON and with keys for private use', async () => {
    const { stdout, stderr } = await bench.cli(
      'dns-records',
      'example.org',
      'other',
      'addressed',
      '--private-keys',
      '--json',
    )
    const [, service] = JSON.parse(stdout)
    expect(service).toEqual({
      name: 'other.example.org.',
      type: 'SVCB',
      ttl: 3600,
      data: `1 notexample.com. alpn="http/1.1" port=443 key65400="${bench.url}/agents/other/agent.json"`,
    })
    expect(stderr).toContain('addressed is left out: it has no endpoint with TLS on a host with a name')
  })

  it('fails for an agent that does not exist', async () => {
    const { code, stderr } = await bench.cli('dns-records', 'example.com', 'absent')
    expect([code, stderr]).toEqual([1, expect.stringContaining('absent')])
  })

  it.each([
    [['dns-records'], 'use: switchboard dns-records DOMAIN'],
    [['dns-records', 'a b'], 'is not a domain name'],
    [['dns-records', 'example.com', '--ttl', '0'], '--ttl'],
  ])('rejects %j with exit code 2', async (args, reason) => {
    expect(await runQuietly(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) })
  })
})
