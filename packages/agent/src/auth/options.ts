import type { JWK } from 'jose'

/** A key that callers send as X-API-Key or as a bearer token. */
export interface ApiKey {
  readonly subject: string
  /** Set either the key, or its SHA-256 in hexadecimal. */
  readonly key?: string
  readonly sha256?: string
  readonly scopes?: readonly string[]
}

/** An issuer of accepted JSON Web Tokens. With several, the subject of a caller is `issuer#sub`. */
export interface TokenIssuer {
  readonly issuer: string
  readonly audience: string | readonly string[]
  /** URL of its key set, fetched for the first token and for unknown keys. */
  readonly jwksUrl?: string
  /** Its keys, instead of `jwksUrl`. */
  readonly keys?: readonly JWK[]
}

/** How callers authenticate. */
export interface AuthenticationOptions {
  readonly apiKeys?: readonly ApiKey[]
  readonly issuers?: readonly TokenIssuer[]
  /** Accept client certificates that `tls.clientCa` has issued; `scopesOf` gives the scopes of a subject. */
  readonly clientCertificates?: { readonly scopesOf?: (subject: string) => readonly string[] }
  /** Accept callers without credentials too; they have no scopes. */
  readonly anonymous?: boolean
}
