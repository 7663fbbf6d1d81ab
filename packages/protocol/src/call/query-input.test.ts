import { describe, expect, it } from 'vitest'
import { QUERY_INPUT_VECTORS, QUERY_INPUTS } from '../../test-vectors/call/query-input.js'
import { readQueryInput } from './query-input.js'

/** Parameters by name; the values of a repeated one are a list. */
function parametersOf(query: string): [string, string | string[]][] {
  const params = new URLSearchParams(query)
  return [...new Set(params.keys())].map((name) => {
    const [first = '', ...more] = params.getAll(name)
    return [name, more.length === 0 ? first : [first, ...more]]
  })
}

describe('readQueryInput', () => {
  it.each(QUERY_INPUT_VECTORS)('reads %s', (query, input) => {
    expect(readQueryInput(parametersOf(query), QUERY_INPUTS)).toEqual(input)
  })

  it('keeps a string that is not of the declared type', () => {
    const query = 'count=many&flag=yes&ratio=1e400'
    expect(readQueryInput(parametersOf(query), QUERY_INPUTS)).toEqual({ count: 'many', flag: 'yes', ratio: '1e400' })
  })

  it('reads strings without a schema, and ignores __proto__', () => {
    expect(readQueryInput(parametersOf('a=1&__proto__=x'), undefined)).toEqual({ a: '1' })
  })
})
