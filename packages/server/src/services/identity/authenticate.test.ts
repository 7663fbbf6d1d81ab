import { describe, expect, it } from 'vitest'
import { CERTIFICATE_SUBJECTS } from '../../../../protocol/test-vectors/call/certificate-subjects.js'
import { createAuthenticate } from './authenticate.js'

const never = (): never => {
  throw new Error('no key and no token is involved')
}
const authenticate = createAuthenticate({
  keys: { find: never, list: never, create: never, revoke: never, reload: never },
  verifyToken: never,
  certificateScopes: ['publish'],
})

const withSocket = (socket: unknown) =>
  authenticate({ authorization: undefined, apiKey: undefined, socket, address: '10.0.0.1', requestId: 'r' })

describe('createAuthenticate', () => {
  it.each(CERTIFICATE_SUBJECTS)('AD-8.2-04 takes from a certificate $name', async ({ certificate, subject }) => {
    const caller = await withSocket({ authorized: true, getPeerCertificate: () => certificate })
    expect([caller.kind, caller.subject]).toEqual(
      subject === undefined ? ['anonymous', undefined] : ['certificate', subject],
    )
  })

  it('takes no subject from a certificate that is not trusted', async () => {
    const certificate = { subject: { CN: 'n' } }
    expect(await withSocket({ authorized: false, getPeerCertificate: () => certificate })).toMatchObject({
      kind: 'anonymous',
      subject: undefined,
    })
  })
})
