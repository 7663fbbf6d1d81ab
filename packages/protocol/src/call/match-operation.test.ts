import { describe, expect, it } from 'vitest'
import { MATCH_OPERATION_VECTORS } from '../../test-vectors/call/match-operation.js'
import { matchOperation } from './match-operation.js'

describe('matchOperation', () => {
  it.each(MATCH_OPERATION_VECTORS)('C-58 $title', ({ operations, inUrl, input, match }) => {
    const found = matchOperation(operations, inUrl, input)
    const expected = match.kind === 'match' ? { ...match, operation: { name: match.operation } } : match
    expect(found).toMatchObject(expected)
    if (found.kind === 'match' && match.kind === 'match') expect(found.input).toEqual(match.input)
  })
})
