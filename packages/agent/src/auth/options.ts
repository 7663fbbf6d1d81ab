import type { JWK } from 'jose'

/** A key that a caller shows in X-API-Key, or as a bearer token. */
export interface ApiKey {
  readonly subject: string
  /** The key itself, or its SHA-256 in hexadecimal: one of the two. */
  readonly key?: string
  readonly sha256?: string
  readonly scopes?: readonly string[]
}

/** Whose JSON Web Tokens are taken. */
export interface TokenIssuer {
  readonly issuer: string
  readonly audience: string | readonly string[]
  /** Where its keys are; asked when a token comes, and again for keys that are not known. */
  readonly jwksUrl?: string
  /** Its keys, where they are known beforehand. */
  readonly keys?: readonly JWK[]
}

/** How callers prove who they are; an agent that names nothing takes everybody. */
export interface AuthenticationOptions {
  readonly apiKeys?: readonly ApiKey[]
  readonly issuers?: readonly TokenIssuer[]
  /** Callers whose certificate the server's `ca` vouches for; scopes by subject, none unless told. */
  readonly clientCertificates?: { readonly scopesOf?: (subject: string) => readonly string[] }
  /** Callers without credentials are taken too; they have no scopes. */
  readonly anonymous?: boolean
}
