import { describe, expect, it } from 'vitest'
import { chooseType } from './accept.js'

const OFFERED = ['application/json', 'text/event-stream', 'application/x-ndjson']

describe('chooseType', () => {
  it.each([
    [null, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/*', 'text/event-stream'],
    ['application/x-ndjson, text/event-stream', 'application/x-ndjson'],
    ['text/event-stream;q=0.5, application/x-ndjson;q=0.9', 'application/x-ndjson'],
    ['application/json;q=0, */*', 'text/event-stream'],
    ['TEXT/Event-Stream', 'text/event-stream'],
    ['image/png', undefined],
    ['*/*;q=0', undefined],
  ])('reads %s', (accept, chosen) => {
    expect(chooseType(accept, OFFERED)).toBe(chosen)
  })

  it('looks at no more ranges than anybody needs', () => {
    expect(chooseType(`${'a/b,'.repeat(100_000)}application/json`, OFFERED)).toBeUndefined()
  })
})
