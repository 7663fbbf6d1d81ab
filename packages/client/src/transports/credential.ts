/** What proves to an agent who is calling. */
export type Credential =
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'api_key'; readonly key: string }

/** What an agent asks for, so that a provider can tell which credential is meant. */
export interface CredentialNeed {
  /** The agent's URI in normal form. */
  readonly uri: string
  /** Where the credential will be sent. */
  readonly url: string
  /** Canonical words of the descriptor: oauth2_bearer, api_key, mtls; empty if it says nothing. */
  readonly schemes: readonly string[]
  /** WWW-Authenticate of the 401 that asked for it. */
  readonly challenge?: string
}

/** One credential, or a function that finds the one for an agent; undefined: there is none. */
export type Credentials =
  | Credential
  | ((need: CredentialNeed) => Credential | undefined | Promise<Credential | undefined>)

/** The header that carries it (AIDIP §5.1). */
export const credentialHeader = (credential: Credential | undefined): Record<string, string> => {
  if (credential === undefined) return {}
  return credential.type === 'bearer'
    ? { authorization: `Bearer ${credential.token}` }
    : { 'x-api-key': credential.key }
}
