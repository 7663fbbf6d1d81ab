import type { TLSSocket } from 'node:tls'
import { certificateSubject, DirectoryError } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { Keys } from './keys.js'
import type { VerifyToken } from './tokens.js'

/** The credentials of a request, and where it came from. */
export interface Credentials {
  readonly authorization: string | undefined
  readonly apiKey: string | undefined
  readonly socket: unknown
  readonly address: string
  readonly requestId: string
}

/** Identifies the caller; synchronous unless a token has to be verified. */
export type Authenticate = (credentials: Credentials) => Caller | Promise<Caller>

export interface AuthenticateOptions {
  keys: Keys
  verifyToken: VerifyToken
  /** Scopes of callers with a client certificate. */
  certificateScopes: readonly string[]
}

const CHALLENGE = { 'www-authenticate': 'Bearer realm="switchboard"' }
const NO_SCOPES: ReadonlySet<string> = new Set()

/** Accepts a bearer key or token, an API key, a client certificate, or no credentials; rejects an invalid credential. */
export function createAuthenticate({ keys, verifyToken, certificateScopes }: AuthenticateOptions): Authenticate {
  const byKey = (secret: string, { address, requestId }: Credentials): Caller => {
    const key = keys.find(secret)
    if (!key) {
      const headers = { 'www-authenticate': 'Bearer realm="switchboard", error="invalid_token"' }
      throw new DirectoryError('unauthorized', 'the API key is invalid, expired or revoked', { headers })
    }
    return {
      subject: key.subject,
      kind: 'key',
      scopes: new Set(key.scopes),
      address,
      requestId,
      ...(key.names && { names: key.names }),
      ...(key.expiresAt !== undefined && { credentialEnds: key.expiresAt }),
    }
  }

  const byToken = async (token: string, { address, requestId }: Credentials): Promise<Caller> => {
    const { subject, scopes, names, expiresAt } = await verifyToken(token)
    return {
      subject,
      kind: 'token',
      scopes: new Set(scopes),
      address,
      requestId,
      ...(names && { names }),
      credentialEnds: expiresAt,
    }
  }

  return (credentials) => {
    const { authorization, apiKey, address, requestId } = credentials
    if (authorization !== undefined) {
      const secret = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
      if (secret === undefined) {
        throw new DirectoryError(
          'unauthorized',
          'the Authorization header must be "Bearer" followed by an API key or a token',
          {
            headers: CHALLENGE,
          },
        )
      }
      return looksLikeToken(secret) ? byToken(secret, credentials) : byKey(secret, credentials)
    }
    if (apiKey !== undefined) return byKey(apiKey, credentials)
    const { socket } = credentials
    const subject = isAuthorizedTls(socket) ? certificateSubject(socket.getPeerCertificate()) : undefined
    if (subject !== undefined)
      return { subject, kind: 'certificate', scopes: new Set(certificateScopes), address, requestId }
    return { subject: undefined, kind: 'anonymous', scopes: NO_SCOPES, address, requestId }
  }
}

/** A JWT has three parts and a JSON header; API keys have neither. */
const looksLikeToken = (secret: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(secret)

const isAuthorizedTls = (socket: unknown): socket is TLSSocket =>
  typeof socket === 'object' && socket !== null && 'authorized' in socket && socket.authorized === true
