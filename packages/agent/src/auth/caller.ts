/** Who calls, as far as it was proven. */
export interface Caller {
  /** Undefined: nobody in particular. */
  readonly subject: string | undefined
  readonly scopes: ReadonlySet<string>
  readonly scheme: 'none' | 'api_key' | 'oauth2_bearer' | 'mtls'
  /** Whom limits count for: the subject, else the address. */
  readonly client: string
}
