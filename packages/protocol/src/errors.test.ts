import { describe, expect, it } from 'vitest'
import { DirectoryError, ERROR_KINDS, errorBody, invalid } from './errors.js'

const AT = { base: 'https://directory.example', instance: '/agents', correlationId: 'c-1' }

describe('errorBody', () => {
  it('has the members that clients of every draft expect (C-68)', () => {
    const error = invalid([
      { at: '/name', message: 'is required' },
      { at: '', message: 'must be an object' },
    ])
    const message = '/name is required; the document must be an object'
    expect(errorBody(error, AT)).toEqual({
      type: 'https://directory.example/problems/invalid-request',
      title: 'The request is not valid',
      status: 400,
      detail: message,
      instance: '/agents',
      error: {
        code: 'InvalidInput',
        message,
        details: [
          { member: '/name', message: 'is required' },
          { member: '', message: 'must be an object' },
        ],
      },
      code: 'invalid_request',
      message,
      correlation_id: 'c-1',
    })
  })

  it('says how long to wait, and adds the error’s own members', () => {
    const error = new DirectoryError('rate_limited', 'slow down', { retryAfter: 7, members: { limit: 600 } })
    expect(errorBody(error, AT)).toMatchObject({ status: 429, retry_after: 7, limit: 600 })
  })

  it("uses the profile's code if it differs", () => {
    expect(errorBody(new DirectoryError('registration_expired', 'gone'), AT)).toMatchObject({
      status: 404,
      code: 'not_found',
    })
    expect(errorBody(new DirectoryError('precondition_failed', 'stale'), AT)).toMatchObject({
      status: 412,
      code: 'stale_metadata',
    })
  })
})

describe('DirectoryError', () => {
  it.each(Object.keys(ERROR_KINDS) as (keyof typeof ERROR_KINDS)[])('%s has the status of its kind', (code) => {
    const error = new DirectoryError(code, 'x')
    expect(error.status).toBe(ERROR_KINDS[code].status)
    expect(error.status).toBeGreaterThanOrEqual(400)
    expect(error).toBeInstanceOf(Error)
  })
})
