import { expect, it } from 'vitest'
import { fixture } from '../../test/fixtures.js'
import { detectFormat } from './detect-format.js'

it.each([
  ['FX-T01', 'aidip'],
  ['FX-T00', 'aidip'],
  ['FX-HR', 'profile'],
  ['FX-D0', 'profile'],
  ['FX-SUM', 'directory'],
  ['FX-DESC', 'descriptor'],
] as const)('recognises the sample document %s as %s', (id, format) => {
  expect(detectFormat(fixture(id))).toBe(format)
})

it.each([
  [{ name: 'a', description: 'b', version: '1', url: 'https://a.example/', capabilities: {}, skills: [] }, 'a2a'],
  [{ name: 'a', description: 'b', version: '1', remotes: [] }, 'mcp'],
  [{ name: 'a', endpoint: 'https://a.example/', capabilities: [] }, 'aidip'],
  [{ name: 'a', endpoint: 'https://a.example/', capabilities: [{ name: 'x' }] }, 'descriptor'],
  [{ name: 'a', url: 'https://a.example/' }, 'descriptor'],
  [{ name: 'a' }, undefined],
  [{}, undefined],
])('recognises %j as %s', (document, format) => {
  expect(detectFormat(document)).toBe(format)
})
