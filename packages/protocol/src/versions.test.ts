import { expect, it } from 'vitest'
import { coerceVersion, compareVersions } from './versions.js'

it.each([
  ['3.1.4', '3.1.4'],
  ['1.0', '1.0.0'],
  ['2', '2.0.0'],
  ['1.0.0-rc.1', '1.0.0-rc.1'],
])('AURI-7-06 reads %s as the semantic version %s', (text, version) => {
  expect(coerceVersion(text)).toBe(version)
})

it.each(['banana', '', '1.x', '1.2.3.4', undefined])('AURI-7-06 takes %j for none', (text) => {
  expect(coerceVersion(text)).toBeUndefined()
})

it('orders versions, a candidate before its release', () => {
  expect(compareVersions('1.0.0', '1.0.0-rc.1')).toBeGreaterThan(0)
  expect(compareVersions('1.9.0', '1.10.0')).toBeLessThan(0)
})
