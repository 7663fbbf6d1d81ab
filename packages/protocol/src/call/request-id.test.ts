import { describe, expect, it } from 'vitest'
import { NOT_REQUEST_IDS, REQUEST_IDS } from '../../test-vectors/call/request-id.js'
import { toRequestId } from './request-id.js'

describe('toRequestId', () => {
  it.each(REQUEST_IDS)('C-74 keeps %s', (id) => {
    expect(toRequestId(id)).toBe(id)
  })

  it.each(NOT_REQUEST_IDS)('C-74 replaces "%s"', (id) => {
    expect(toRequestId(id, () => 'new')).toBe('new')
  })

  it('C-74 creates a new id each time for anything that is not a string', () => {
    const ids = [undefined, null, 7, ['a'], {}].map((value) => toRequestId(value))
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
