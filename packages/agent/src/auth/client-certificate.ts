import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/**
 * Who a client's certificate says it is: a URI of its alternative names, else a DNS name, else the common name.
 * Undefined without a certificate that the server's authority vouches for.
 */
export function certificateSubject(socket: Socket): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const { subjectaltname = '', subject } = socket.getPeerCertificate()
  const name = (kind: string): string | undefined => new RegExp(`(?:^|, )${kind}:([^,"]+)`).exec(subjectaltname)?.[1]
  return name('URI') ?? name('DNS') ?? [subject?.CN].flat()[0]
}
