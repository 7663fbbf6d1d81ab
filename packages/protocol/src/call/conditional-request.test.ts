import { describe, expect, it } from 'vitest'
import { CHANGED_AT, CONDITIONAL_REQUEST_VECTORS, CURRENT_TAG } from '../../test-vectors/call/conditional-request.js'
import { isNotModified } from './conditional-request.js'

describe('isNotModified', () => {
  it.each(CONDITIONAL_REQUEST_VECTORS)('$ifNoneMatch, $ifModifiedSince: $isNotModified', (vector) => {
    const { ifNoneMatch, ifModifiedSince } = vector
    const current = { tag: CURRENT_TAG, changedAt: CHANGED_AT }
    expect(isNotModified({ ifNoneMatch, ifModifiedSince }, current)).toBe(vector.isNotModified)
    // Caches may have weakened our own ETag too.
    const weakened = { ...current, tag: `W/${CURRENT_TAG}` }
    expect(isNotModified({ ifNoneMatch, ifModifiedSince }, weakened)).toBe(vector.isNotModified)
  })
})
