import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import {
  CHANGED_AT,
  CONDITIONAL_REQUEST_VECTORS,
  CURRENT_TAG,
} from '../../../protocol/test-vectors/call/conditional-request.js'
import { isUnchanged } from './respond.js'

describe('isUnchanged', () => {
  it.each(CONDITIONAL_REQUEST_VECTORS)('$ifNoneMatch, $ifModifiedSince: $isNotModified', async (vector) => {
    const app = Fastify()
    app.get('/', (request, reply) =>
      reply.code(isUnchanged(request, reply, CURRENT_TAG, CHANGED_AT) ? 304 : 200).send(),
    )
    const { ifNoneMatch, ifModifiedSince } = vector
    const response = await app.inject({
      url: '/',
      headers: {
        ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
        ...(ifModifiedSince !== undefined && { 'if-modified-since': ifModifiedSince }),
      },
    })
    expect(response.statusCode).toBe(vector.isNotModified ? 304 : 200)
    expect(response.headers.etag).toBe(CURRENT_TAG)
    await app.close()
  })
})
