/** A credential that authenticates the caller to an agent. */
export type Credential =
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'api_key'; readonly key: string }

/** What an agent requires, so that a provider can choose a credential. */
export interface CredentialNeed {
  /** The agent's normalized URI. */
  readonly uri: string
  /** Where the credential will be sent. */
  readonly url: string
  /** Schemes in the descriptor, in canonical form: oauth2_bearer, api_key, mtls. Empty if it names none. */
  readonly schemes: readonly string[]
  /** `WWW-Authenticate` of the 401 response, if there was one. */
  readonly challenge?: string
}

/** One credential for all agents, or a function that returns the one for an agent, or undefined. */
export type Credentials =
  | Credential
  | ((need: CredentialNeed) => Credential | undefined | Promise<Credential | undefined>)

/** The request header for a credential (AIDIP §5.1). */
export const credentialHeader = (credential: Credential | undefined): Record<string, string> => {
  if (credential === undefined) return {}
  return credential.type === 'bearer'
    ? { authorization: `Bearer ${credential.token}` }
    : { 'x-api-key': credential.key }
}
