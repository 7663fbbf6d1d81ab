import { describe, expect, it } from 'vitest'
import { fixture } from '../../test/fixtures.js'
import type { JsonValue } from '../json.js'
import { lintDescriptor } from './lint-descriptor.js'

const complete = {
  name: 'a',
  version: '3.1.4',
  description: 'b',
  capabilities: [{ name: 'c', version: '1.0.0', description: 'd', tags: [], input: {}, output: {} }],
  transport: { https: 'https://a.example/', wss: 'wss://a.example/' },
  versionNegotiation: { preferred: 'header' },
  security: { https: ['OAuth2'], wss: ['none'] },
}

const lint = (changes: Record<string, JsonValue | undefined>): { errors: string[]; warnings: string[] } => {
  const document = JSON.parse(JSON.stringify({ ...complete, ...changes }))
  const { errors, warnings } = lintDescriptor(document)
  return { errors: errors.map(({ at }) => at), warnings: warnings.map(({ at }) => at) }
}

describe('lintDescriptor', () => {
  it('has no advice on a complete descriptor', () => {
    expect(lint({})).toEqual({ errors: [], warnings: [] })
  })

  it.each(['name', 'version'])('AURI-7-04 warns about a missing %s', (name) => {
    expect(lint({ [name]: undefined }).warnings).toEqual([`/${name}`])
  })

  it('AURI-7-06 warns about versions that are not semantic, and reads 1.0 as 1.0.0', () => {
    expect(lint({ version: 'banana' }).warnings).toEqual(['/version'])
    expect(lint({ version: '1.0', supportedVersions: { '1.0': '/a', '2.1.2': '/b' } }).warnings).toEqual([])
    expect(lint({ supportedVersions: { latest: '/a' } }).warnings).toEqual(['/supportedVersions'])
  })

  it('AURI-7-08 warns about a missing description', () => {
    expect(lint({ description: undefined }).warnings).toEqual(['/description'])
  })

  it('AURI-7-10 warns about missing members of a capability', () => {
    expect(lint({ capabilities: [{ name: 'c' }] }).warnings).toEqual(
      ['description', 'version', 'tags', 'input', 'output'].map((name) => `/capabilities/0/${name}`),
    )
  })

  it.each([[[]], [undefined], [{}]])('AURI-7-19 warns that %j lists no capability', (capabilities) => {
    expect(lint({ capabilities }).warnings).toEqual(['/capabilities'])
    expect(lint({ capabilities, skills: [{ id: 's', name: 'S' }] }).warnings).toEqual([])
  })

  it('AURI-7-22 requires documented version negotiation', () => {
    expect(lint({ versionNegotiation: undefined }).errors).toEqual(['/versionNegotiation'])
    expect(lint({ versionNegotiation: 'header' }).errors).toEqual([])
    expect(lintDescriptor(fixture('FX-DESC')).errors.map(({ at }) => at)).toContain('/versionNegotiation')
  })

  it('AURI-10-07 requires the security mechanisms of each transport', () => {
    expect(lint({ security: undefined }).errors).toEqual(['/security'])
    expect(lint({ security: ['OAuth2'] }).errors).toEqual(['/security'])
    expect(lint({ security: { https: ['OAuth2'] } }).errors).toEqual(['/security'])
    expect(lint({ transport: { constructor: 'x:y' }, security: {} }).errors).toEqual(['/security'])
  })
})
