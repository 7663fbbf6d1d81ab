import { describe, expect, it } from 'vitest'
import {
  CHANGED_AT,
  CONDITIONAL_REQUEST_VECTORS,
  CURRENT_TAG,
} from '../../../protocol/test-vectors/call/conditional-request.js'
import { documentResponse } from './document-route.js'

const PUBLISHED = { document: {}, body: '{}', tag: CURRENT_TAG, changedAt: CHANGED_AT }

describe('a document', () => {
  it.each(CONDITIONAL_REQUEST_VECTORS)('$ifNoneMatch, $ifModifiedSince: $isNotModified', (vector) => {
    const { ifNoneMatch, ifModifiedSince } = vector
    const url = new URL('https://agent.example/agent.json')
    const headers = {
      ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
      ...(ifModifiedSince !== undefined && { 'if-modified-since': ifModifiedSince }),
    }
    const request = new Request(url, { headers })
    const exchange = { request, url, base: url.origin, path: ['agent.json'], requestId: 'r1', place: {} }
    expect(documentResponse(exchange, PUBLISHED, 60).status).toBe(vector.isNotModified ? 304 : 200)
  })
})
