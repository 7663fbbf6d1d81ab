import { createHash } from 'node:crypto'
import type { PeerCertificate, TLSSocket } from 'node:tls'
import { certificateSubject, DirectoryError } from '@switchboard/protocol'
import { type Caller, networkOf } from '../../policy/caller.js'
import type { Subjects } from '../../policy/subjects.js'
import { holderOfKey, KEY_PREFIX, type Keys } from './keys.js'
import { holderOfClaims, type TokenClaims } from './token-claims.js'
import type { Tokens } from './tokens.js'

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
  readonly keys: Keys
  /** Throws if keys may have been revoked without this process knowing it. */
  readonly assertKeysKnown: () => void
  readonly tokens: Tokens
  readonly subjects: Subjects
  /** Scopes of callers with a client certificate. */
  readonly certificateScopes: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const NO_SCOPES: ReadonlySet<string> = new Set()

/** Accepts a bearer key or token, an API key, a client certificate, or no credentials; rejects an invalid credential. */
export function createAuthenticate(options: AuthenticateOptions): Authenticate {
  const { keys, assertKeysKnown, tokens, subjects, certificateScopes, now } = options
  const byKey = (secret: string, { address, requestId }: Credentials): Caller => {
    assertKeysKnown()
    const key = keys.find(secret)
    if (!key) throw new DirectoryError('unauthorized', 'the API key is invalid, expired or revoked')
    return { address, requestId, ...holderOfKey(key) }
  }

  const byToken = async (verifying: Promise<TokenClaims>, credentials: Credentials): Promise<Caller> => {
    const claims = await verifying
    const { socket, address, requestId } = credentials
    if (claims.certificate !== undefined) assertPresents(trustedCertificate(socket, now()), claims.certificate)
    return { address, requestId, ...holderOfClaims(claims) }
  }

  const byBearer = (secret: string, credentials: Credentials): Caller | Promise<Caller> => {
    const client = networkOf(credentials.address)
    if (looksLikeJwt(secret)) return byToken(tokens.verifyJwt(secret, client), credentials)
    if (tokens.verifyOpaque && !keys.find(secret) && !isOwnKey(secret)) {
      return byToken(tokens.verifyOpaque(secret, client), credentials)
    }
    return byKey(secret, credentials)
  }

  return (credentials) => {
    const { authorization, apiKey, address, requestId, socket } = credentials
    if (authorization !== undefined) {
      const secret = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
      if (secret !== undefined) return byBearer(secret, credentials)
      throw new DirectoryError(
        'unauthorized',
        'the Authorization header must be "Bearer" followed by an API key or a token',
      )
    }
    if (apiKey !== undefined) return byKey(apiKey, credentials)
    const certificate = trustedCertificate(socket, now())
    const name = certificate && certificateSubject(certificate)
    if (name === undefined) return { subject: undefined, kind: 'anonymous', scopes: NO_SCOPES, address, requestId }
    const subject = subjects.ofCertificate(name)
    return { subject, kind: 'certificate', scopes: new Set(certificateScopes), address, requestId }
  }
}

/** A JWT has three parts and a JSON header; API keys have neither. */
const looksLikeJwt = (secret: string): boolean => /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/.test(secret)

/** A revoked or mistyped key of this directory is not sent to an issuer. */
const isOwnKey = (secret: string): boolean => secret.startsWith(KEY_PREFIX)

/** The client's certificate, if the client CA has issued it and it has not expired since the connection was opened. */
function trustedCertificate(socket: unknown, now: number): PeerCertificate | undefined {
  if (!isAuthorizedTls(socket)) return undefined
  const certificate = socket.getPeerCertificate()
  return Date.parse(certificate.valid_to) <= now ? undefined : certificate
}

const isAuthorizedTls = (socket: unknown): socket is TLSSocket =>
  typeof socket === 'object' && socket !== null && 'authorized' in socket && socket.authorized === true

/** Throws unless the client has presented the certificate that the token is bound to. */
function assertPresents(certificate: PeerCertificate | undefined, thumbprint: string): void {
  if (certificate && createHash('sha256').update(certificate.raw).digest('base64url') === thumbprint) return
  throw new DirectoryError(
    'unauthorized',
    'the token is bound to a client certificate: present that certificate when you connect',
  )
}
