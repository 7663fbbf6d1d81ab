import { describe, expect, it } from 'vitest'
import { offersProtocol } from './optional-sdk.js'

const missing = () => false

describe('offersProtocol', () => {
  it('offers protocols whose SDK is installed, unless they are switched off', () => {
    expect(offersProtocol('a2a', undefined)).toBe(true)
    expect(offersProtocol('mcp', true)).toBe(true)
    expect(offersProtocol('mcp', false)).toBe(false)
  })

  it('does not offer a protocol whose SDK is missing', () => {
    expect(offersProtocol('a2a', undefined, missing)).toBe(false)
    expect(offersProtocol('mcp', false, missing)).toBe(false)
  })

  it('says what to install if the options request a protocol whose SDK is missing', () => {
    const error = { code: 'invalid_definition', message: expect.stringContaining('npm install @a2a-js/sdk') }
    expect(() => offersProtocol('a2a', true, missing)).toThrow(expect.objectContaining(error))
  })
})
