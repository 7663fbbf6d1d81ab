/** The authenticated caller. */
export interface Caller {
  /** Undefined for anonymous callers; `issuer#sub` if the agent accepts tokens of several issuers. */
  readonly subject: string | undefined
  readonly scopes: ReadonlySet<string>
  readonly scheme: 'none' | 'api_key' | 'oauth2_bearer' | 'mtls'
  /** Identifies the caller in rate limits: the subject, or else the address. */
  readonly client: string
}
