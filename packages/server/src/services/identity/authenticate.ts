import type { TLSSocket } from 'node:tls'
import { DirectoryError } from '@switchboard/protocol'
import { type Caller, subjectProblem } from '../../policy/caller.js'
import type { Keys } from './keys.js'
import { looksLikeToken, type VerifyToken } from './tokens.js'

/** What a request shows of its sender. */
export interface Credentials {
  readonly authorization: string | undefined
  readonly apiKey: string | undefined
  readonly socket: unknown
  readonly address: string
  readonly requestId: string
}

/** Finds out who the caller is; at once where no token has to be verified. */
export type Authenticate = (credentials: Credentials) => Caller | Promise<Caller>

export interface AuthenticateOptions {
  keys: Keys
  verifyToken: VerifyToken
  /** Scopes of callers who come with a client certificate. */
  certificateScopes: readonly string[]
}

const CHALLENGE = { 'www-authenticate': 'Bearer realm="switchboard"' }
const NO_SCOPES: ReadonlySet<string> = new Set()

/** A bearer key or token, an API key, a client certificate, or nobody. A credential that is wrong is refused. */
export function createAuthenticate({ keys, verifyToken, certificateScopes }: AuthenticateOptions): Authenticate {
  const byKey = (secret: string, { address, requestId }: Credentials): Caller => {
    const key = keys.find(secret)
    if (!key) {
      const headers = { 'www-authenticate': 'Bearer realm="switchboard", error="invalid_token"' }
      throw new DirectoryError('unauthorized', 'the key is not valid, or no longer', { headers })
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
      ...(expiresAt !== undefined && { credentialEnds: expiresAt }),
    }
  }

  return (credentials) => {
    const { authorization, apiKey, address, requestId } = credentials
    if (authorization !== undefined) {
      const secret = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
      if (secret === undefined) {
        throw new DirectoryError('unauthorized', 'Authorization must be "Bearer" and a key or token', {
          headers: CHALLENGE,
        })
      }
      return looksLikeToken(secret) ? byToken(secret, credentials) : byKey(secret, credentials)
    }
    if (apiKey !== undefined) return byKey(apiKey, credentials)
    const subject = certificateSubject(credentials.socket)
    if (subject !== undefined)
      return { subject, kind: 'certificate', scopes: new Set(certificateScopes), address, requestId }
    return { subject: undefined, kind: 'anonymous', scopes: NO_SCOPES, address, requestId }
  }
}

/** The name in a client certificate that our CA vouches for: SAN URI, else SAN DNS, else CN. */
function certificateSubject(socket: unknown): string | undefined {
  if (!isAuthorizedTls(socket)) return undefined
  const { subjectaltname = '', subject } = socket.getPeerCertificate()
  const alternative = (kind: string): string | undefined =>
    subjectaltname
      .split(', ')
      .find((name) => name.startsWith(`${kind}:`))
      ?.slice(kind.length + 1)
  const name = unquote(alternative('URI') ?? alternative('DNS')) ?? [subject?.CN].flat()[0]
  return name === undefined || subjectProblem(name) !== undefined ? undefined : name
}

/** Node writes a name with a comma or a quotation mark in it as a JSON string. */
const unquote = (name: string | undefined): string | undefined => (name?.startsWith('"') ? JSON.parse(name) : name)

const isAuthorizedTls = (socket: unknown): socket is TLSSocket =>
  typeof socket === 'object' && socket !== null && 'authorized' in socket && socket.authorized === true
