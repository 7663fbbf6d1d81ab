import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type AgentInDns, agentRecords, labelOf, readSvcb } from './dns-aid.js'
import type { ZoneRecord } from './zone-records.js'

const translator: AgentInDns = {
  label: 'translator',
  bindings: [
    { protocol: 'mcp/2025-11-25', endpoint: 'https://agents.example.com/mcp' },
    { protocol: 'a2a', endpoint: 'https://agents.example.com/a2a' },
    { protocol: 'https', endpoint: 'https://agents.example.net:8443/t' },
    { protocol: 'https', endpoint: 'http://plain.example.com/' },
  ],
  capabilities: ['translate', 'with, comma', 'say "hello"', 'übersetzen'],
  version: '1.0.0',
  descriptor: 'https://directory.example.com/agents/translator/agent.json',
}
const lines = (records: ZoneRecord[]): string[] => records.map(({ name, type, data }) => `${name} ${type} ${data}`)

describe('agentRecords', () => {
  it('describes agents by the host, port and protocols of their endpoints', () => {
    const records = agentRecords([translator], 'example.com', { index: 'https://directory.example.com' })
    expect(lines(records)).toEqual([
      '_index._agents.example.com. SVCB 1 directory.example.com. alpn="http/1.1" port=443',
      '_index._agents.example.com. TXT "agents=translator:mcp"',
      'translator.example.com. SVCB 1 agents.example.com. alpn="mcp,a2a" port=443',
      'translator.example.com. SVCB 2 agents.example.net. alpn="http/1.1" port=8443',
      'translator.example.com. TXT "capabilities=translate,say \\034hello\\034,\\195\\188bersetzen" "version=1.0.0"',
      'translator._agents.example.com. SVCB 0 translator.example.com.',
    ])
  })

  it('writes keys for private use only if it is told to', () => {
    const records = agentRecords([{ ...translator, bindings: translator.bindings.slice(0, 1) }], 'example.com', {
      privateKeys: true,
    })
    expect(records.find(({ data }) => data.startsWith('1 '))?.data).toBe(
      '1 agents.example.com. alpn="mcp" port=443 ' +
        'key65400="https://directory.example.com/agents/translator/agent.json" key65402="mcp"',
    )
  })

  it.each([
    ['http://agents.example.com/'],
    ['https://192.0.2.1/'],
    ['https://[2001:db8::1]/'],
    ['https://localhost/'],
    ['https://_x.example.com/'],
    ['urn:agent:1'],
  ])('leaves out an agent that is only at %s', (endpoint) => {
    expect(agentRecords([{ label: 'a', bindings: [{ protocol: 'https', endpoint }] }], 'example.com')).toEqual([])
  })

  it('writes as many strings as a long list of agents needs', () => {
    const many = Array.from({ length: 40 }, (_, i) => ({ ...translator, label: `translator-${i}` }))
    const index = agentRecords(many, 'example.com')[0]?.data.split(' ') ?? []
    expect(index.length).toBeGreaterThan(2)
    expect(index.every((text) => /^"agents=[^"]{1,248}"$/.test(text))).toBe(true)
    expect(index.join('').match(/translator-\d+:mcp/g)).toHaveLength(40)
  })

  it.each([
    ['a b', 'example.com'],
    ['-a', 'example.com'],
    ['a', 'exa mple'],
  ])('rejects the label %j in the domain %j', (label, domain) => {
    expect(() => agentRecords([{ ...translator, label }], domain)).toThrow(TypeError)
  })

  const checker = hasProgram('named-checkzone')
  it.skipIf(!checker)('is accepted by a name server', () => {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-zone-'))
    try {
      const own = agentRecords([translator], 'example.com', { index: 'https://d.example.com', privateKeys: true })
      const zone = join(folder, 'zone')
      const head = '@ 60 IN SOA ns hostmaster 1 60 60 60 60\n@ 60 IN NS ns\nns 60 IN A 192.0.2.1\n'
      writeFileSync(zone, head + own.map(({ name, type, data }) => `${name} 60 IN ${type} ${data}\n`).join(''))
      expect(String(execFileSync('named-checkzone', ['example.com', zone]))).toContain('OK')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('labelOf', () => {
  it.each([
    ['translator', 'translator'],
    ['agent://example.com/team/Translator%20Pro?x=1', 'translator-20pro'],
    ['https://example.com/agents/translator/', 'translator'],
    ['did:web:example.com:translator', 'translator'],
    ['com.example/my_server', 'my-server'],
    ['---', undefined],
    ['翻訳', undefined],
  ])('of %j is %j', (id, label) => {
    expect(labelOf(id)).toBe(label)
  })
})

describe('readSvcb', () => {
  const record = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes)

  it('reads priority, target and parameters', () => {
    const data = record(0, 1, 1, 97, 2, 98, 99, 0, 0, 1, 0, 4, 3, 109, 99, 112, 0, 3, 0, 2, 1, 187)
    expect(readSvcb(data)).toEqual({
      priority: 1,
      target: 'a.bc',
      params: new Map([
        [1, record(3, 109, 99, 112)],
        [3, record(1, 187)],
      ]),
    })
    expect(readSvcb(record(0, 1, 0))).toEqual({ priority: 1, target: '', params: new Map() })
  })

  it('ignores whatever is malformed', () => {
    const whole = [0, 1, 1, 97, 0, 0, 3, 0, 2, 1, 187]
    for (let length = 0; length < whole.length; length++)
      if (length !== 5) expect(readSvcb(record(...whole.slice(0, length)))).toBeUndefined()
    expect(readSvcb(record(0, 1, 0, 0, 3, 0, 0, 0, 1, 0, 0)), 'keys out of order').toBeUndefined()
    expect(readSvcb(record(0, 1, 0xc0, 12)), 'a compressed name').toBeUndefined()
    expect(readSvcb(record(0, 1, 1, 46, 0)), 'a dot within a label').toBeUndefined()
  })
})

function hasProgram(name: string): boolean {
  try {
    execFileSync(name, ['-h'], { stdio: 'ignore' })
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT')
  }
}
