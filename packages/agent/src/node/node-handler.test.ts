import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { describe, expect, it } from 'vitest'
import { CERTIFICATE_SUBJECTS } from '../../../protocol/test-vectors/call/certificate-subjects.js'
import { placeOf } from './node-handler.js'

function requestOf(certificate: object, authorized: boolean): IncomingMessage {
  const socket = new TLSSocket(new Socket())
  return new IncomingMessage(Object.assign(socket, { authorized, getPeerCertificate: () => certificate }))
}

describe('placeOf', () => {
  it.each(CERTIFICATE_SUBJECTS)('AURI-10-01 finds the subject of a certificate: $name', ({ certificate, subject }) => {
    expect(placeOf(requestOf(certificate, true), {}).certificate).toBe(subject)
  })

  it('ignores the subject of a certificate that is not trusted', () => {
    expect(placeOf(requestOf({ subject: { CN: 'n' } }, false), {}).certificate).toBeUndefined()
  })
})
