import { describe, expect, it } from 'vitest'
import { coerceVersion, compareVersions, selectVersion } from './versions.js'

it.each([
  ['3.1.4', '3.1.4'],
  ['1.0', '1.0.0'],
  ['2', '2.0.0'],
  ['1.0.0-rc.1', '1.0.0-rc.1'],
])('AURI-7-06 reads %s as the semantic version %s', (text, version) => {
  expect(coerceVersion(text)).toBe(version)
})

it.each(['banana', '', '1.x', '1.2.3.4', undefined])('AURI-7-06 rejects %j', (text) => {
  expect(coerceVersion(text)).toBeUndefined()
})

it('orders versions, a release candidate before its release', () => {
  expect(compareVersions('1.0.0', '1.0.0-rc.1')).toBeGreaterThan(0)
  expect(compareVersions('1.9.0', '1.10.0')).toBeLessThan(0)
})

describe('selectVersion', () => {
  const sample = { version: '3.1.4', supportedVersions: { '3.0.0': '/v3/', '2.1.2': '/old/', '1.0': '/version-1/' } }

  it.each([
    [undefined, { version: '3.1.4' }],
    ['3.1.4', { version: '3.1.4' }],
    ['3.0.0', { version: '3.0.0', base: '/v3/' }],
    ['1.0.0', { version: '1.0', base: '/version-1/' }],
    ['1.0', { version: '1.0', base: '/version-1/' }],
    ['^3.0.0', { version: '3.1.4' }],
    ['~3.0.0', { version: '3.0.0', base: '/v3/' }],
    ['<3', { version: '2.1.2', base: '/old/' }],
    ['2.x', { version: '2.1.2', base: '/old/' }],
  ])('AURI-7-05 selects %j → %j', (wanted, chosen) => {
    expect(selectVersion(sample, wanted)).toEqual(chosen)
  })

  it.each(['9.9.9', '^4.0.0', 'banana', '>3.1.4'])('AURI-7-07 selects nothing for %j', (wanted) => {
    expect(selectVersion({ version: '3.1.4' }, wanted)).toBeUndefined()
  })

  it('AURI-7-07 selects 3.1.4, not 4.0.0, for ^3.0.0', () => {
    expect(selectVersion({ version: '4.0.0' }, '^3.0.0')).toBeUndefined()
    expect(selectVersion({ version: '3.1.4' }, '^3.0.0')).toEqual({ version: '3.1.4' })
  })
})
