import { describe, expect, it } from 'vitest'
import { isSpiffe, parseSpiffeId } from './spiffe-id.js'

describe('parseSpiffeId', () => {
  it('returns trust domain and path of a workload', () => {
    expect(parseSpiffeId('spiffe://prod.acme-9_x.example/billing/Invoices-2.v1')).toEqual({
      trustDomain: 'prod.acme-9_x.example',
      path: '/billing/Invoices-2.v1',
    })
  })

  it.each([
    'spiffe://td.example',
    'spiffe://td.example/',
    'spiffe:///workload',
    'spiffe:td.example/workload',
    'spiffe://TD.example/workload',
    'SPIFFE://td.example/workload',
    'spiffe://td.example:443/workload',
    'spiffe://user@td.example/workload',
    'spiffe://td.example/a//b',
    'spiffe://td.example/a/',
    'spiffe://td.example/./a',
    'spiffe://td.example/a/..',
    'spiffe://td.example/a%20b',
    'spiffe://td.example/a?b',
    'spiffe://td.example/a#b',
    'spiffe://tä.example/a',
    ' spiffe://td.example/a',
    'spiffe://td.example/a\n',
    `spiffe://${'d'.repeat(256)}/a`,
    `spiffe://td.example/${'a'.repeat(2048)}`,
    'https://td.example/a',
    '',
  ])('rejects %j', (text) => {
    expect(parseSpiffeId(text)).toBeUndefined()
  })

  it('accepts the longest trust domain and the longest id', () => {
    expect(parseSpiffeId(`spiffe://${'d'.repeat(255)}/a`)).toBeDefined()
    expect(parseSpiffeId('spiffe://td.example/'.padEnd(2048, 'a'))).toBeDefined()
  })
})

describe('isSpiffe', () => {
  it('recognises malformed ids too, so that they are not taken for another kind of name', () => {
    expect(['spiffe://td', 'SPIFFE:x', 'spiffe', 'https://spiffe:1/'].map(isSpiffe)).toEqual([true, true, false, false])
  })
})
