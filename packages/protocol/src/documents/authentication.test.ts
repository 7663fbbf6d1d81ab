import { describe, expect, it } from 'vitest'
import { canonicalAuthenticationType, readAuthentication } from './authentication.js'

describe('canonicalAuthenticationType', () => {
  it.each([
    ['API Key', 'api_key'],
    ['api-key', 'api_key'],
    ['apikey', 'api_key'],
    ['OAuth2', 'oauth2_bearer'],
    ['Bearer', 'oauth2_bearer'],
    ['oauth2_bearer', 'oauth2_bearer'],
    ['OAuth', 'oauth2_bearer'],
    ['mTLS', 'mtls'],
    ['Mutual TLS', 'mtls'],
    ['NONE', 'none'],
  ])('AIDIP00-4-08 reads %j as %s', (word, type) => {
    expect(canonicalAuthenticationType(word)).toBe(type)
  })

  it.each(['SAML', 'constructor', '__proto__', ''])('leaves the unknown type %j unchanged', (word) => {
    expect(canonicalAuthenticationType(word)).toBe(word)
  })
})

describe('readAuthentication', () => {
  it('AIDIP-3.1-14 reads type, instructions and scopes', () => {
    const sent = { type: 'oauth2_bearer', instructions: 'See the docs.', scopes: ['invoke'] }
    expect(readAuthentication(sent)).toEqual({ ...sent, schemes: ['oauth2_bearer'] })
  })

  it('reads missing authentication as the type none', () => {
    expect(readAuthentication(undefined)).toBeUndefined()
    expect(readAuthentication({ type: 'none' })?.type).toBe('none')
  })

  it('reads the schemes of an agent.json; the first is the type', () => {
    expect(readAuthentication({ schemes: ['OAuth2', 'mTLS'] })).toEqual({
      type: 'oauth2_bearer',
      schemes: ['OAuth2', 'mTLS'],
    })
  })

  it.each([5, null, [], ['API Key'], {}, { type: 5 }, { schemes: 'x' }])('ignores %j', (value) => {
    expect(readAuthentication(value)).toBeUndefined()
  })
})
