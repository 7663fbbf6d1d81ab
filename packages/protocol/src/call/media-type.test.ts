import { describe, expect, it } from 'vitest'
import { ACCEPT_VECTORS, JSON_TYPE_VECTORS, OFFERED_TYPES } from '../../test-vectors/call/media-types.js'
import { chooseMediaType } from './choose-media-type.js'
import { isJsonType, isNdjsonType, mediaTypeOf } from './media-type.js'

describe('chooseMediaType', () => {
  it.each(ACCEPT_VECTORS)('Accept: %s gives %s', (accept, chosen) => {
    expect(chooseMediaType(accept, OFFERED_TYPES)).toBe(chosen)
  })

  it('treats a missing and an empty header the same', () => {
    for (const accept of [null, '', ' ']) expect(chooseMediaType(accept, OFFERED_TYPES)).toBe('application/json')
  })

  it('considers a limited number of ranges', () => {
    expect(chooseMediaType(`${'a/b,'.repeat(100_000)}application/json`, OFFERED_TYPES)).toBeUndefined()
  })
})

describe('isJsonType', () => {
  it.each(JSON_TYPE_VECTORS)('%s: %s', (contentType, isJson) => {
    expect(isJsonType(mediaTypeOf(contentType))).toBe(isJson)
  })

  it('is false without a type', () => {
    expect([isJsonType(mediaTypeOf(undefined)), isJsonType(mediaTypeOf(null)), isJsonType('')]).toEqual([
      false,
      false,
      false,
    ])
  })
})

describe('isNdjsonType', () => {
  it('recognizes the names in use', () => {
    expect(['application/x-ndjson', 'application/jsonl', 'application/json'].map(isNdjsonType)).toEqual([
      true,
      true,
      false,
    ])
  })
})
