import { describe, expect, it } from 'vitest'
import { JSON_BODY_VECTORS } from '../../test-vectors/call/json-body.js'
import { parseJsonBody } from './json-body.js'

describe('parseJsonBody', () => {
  it.each(JSON_BODY_VECTORS)('$title', ({ bytes, value }) => {
    if (value === undefined) expect(() => parseJsonBody(bytes)).toThrow(/^the body is not valid (UTF-8|JSON)/)
    else expect(parseJsonBody(bytes)).toEqual(value)
  })
})
