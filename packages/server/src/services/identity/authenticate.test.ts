import { describe, expect, it } from 'vitest'
import { CERTIFICATE_SUBJECTS } from '../../../../protocol/test-vectors/call/certificate-subjects.js'
import { createSubjects } from '../../policy/subjects.js'
import { type AuthenticateOptions, createAuthenticate } from './authenticate.js'

const mustNotBeCalled = (): never => {
  throw new Error('keys and tokens must not be used')
}
const options: AuthenticateOptions = {
  assertKeysKnown: () => {},
  keys: {
    find: mustNotBeCalled,
    ofHash: mustNotBeCalled,
    list: mustNotBeCalled,
    create: mustNotBeCalled,
    revoke: mustNotBeCalled,
    reload: mustNotBeCalled,
    onLastRevoked: mustNotBeCalled,
  },
  tokens: { verifyJwt: mustNotBeCalled, verifyOpaque: undefined },
  subjects: createSubjects({ plainIssuer: undefined, trustDomains: new Map() }),
  certificateScopes: ['publish'],
  now: () => Date.parse('2030-01-01T00:00:00Z'),
}
const authenticate = createAuthenticate(options)

const withSocket = (socket: unknown) =>
  authenticate({ authorization: undefined, apiKey: undefined, socket, address: '10.0.0.1', requestId: 'r' })

describe('createAuthenticate', () => {
  it.each(CERTIFICATE_SUBJECTS)('AD-8.2-04 finds the subject: $name', async ({ certificate, subject }) => {
    const caller = await withSocket({ authorized: true, getPeerCertificate: () => certificate })
    expect([caller.kind, caller.subject]).toEqual(
      subject === undefined ? ['anonymous', undefined] : ['certificate', subject],
    )
  })

  it('treats a caller as anonymous whose certificate has expired since the connection was opened', async () => {
    const withEnd = (valid_to: string) =>
      withSocket({ authorized: true, getPeerCertificate: () => ({ subject: { CN: 'n' }, valid_to }) })
    expect((await withEnd('Jan  1 00:00:01 2030 GMT')).subject).toBe('n')
    expect((await withEnd('Jan  1 00:00:00 2030 GMT')).subject).toBeUndefined()
  })

  it('treats a caller with an untrusted certificate as anonymous', async () => {
    const certificate = { subject: { CN: 'n' } }
    expect(await withSocket({ authorized: false, getPeerCertificate: () => certificate })).toMatchObject({
      kind: 'anonymous',
      subject: undefined,
    })
  })

  it('accepts no API key while it is not known which keys were revoked', () => {
    const strict = createAuthenticate({ ...options, assertKeysKnown: mustNotBeCalled })
    const credentials = { authorization: undefined, socket: {}, address: '10.0.0.1', requestId: 'r' }
    expect(() => strict({ ...credentials, apiKey: 'sb_key' })).toThrow('must not be used')
    expect(strict({ ...credentials, apiKey: undefined })).toMatchObject({ kind: 'anonymous' })
  })
})
