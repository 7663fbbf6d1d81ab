import { canonicalAuthenticationType } from '@switchboard/protocol'
import type { Endpoint, ResolvedAgent } from '../resolve/resolved-agent.js'
import type { Credential, Credentials } from '../transports/credential.js'

/** The credential for the first attempt, and how to get another after a 401. */
export interface ChosenCredential {
  readonly credential?: Credential
  readonly renew?: (challenge: string | undefined) => Promise<Credential | undefined>
}

/** Chooses a credential that matches the agent's security schemes. An agent without a descriptor gets the one given. */
export async function chooseCredential(
  { record }: ResolvedAgent,
  endpoint: Endpoint,
  place: { readonly uri: string; readonly url: string },
  credentials: Credentials | undefined,
): Promise<ChosenCredential> {
  if (credentials === undefined) return {}
  const stated = endpoint.security ?? record?.authentication?.schemes ?? []
  const schemes = stated.map((name) => canonicalAuthenticationType(name) ?? name).filter((name) => name !== 'none')
  const need = { ...place, schemes }
  const provide = typeof credentials === 'function' ? credentials : () => credentials
  const first =
    typeof credentials === 'function'
      ? schemes.length > 0
        ? await credentials(need)
        : undefined
      : !record || schemes.some((scheme) => matches(scheme, credentials))
        ? credentials
        : undefined
  const renew = async (challenge: string | undefined): Promise<Credential | undefined> => {
    const next = await provide({ ...need, ...(challenge !== undefined && { challenge }) })
    // The same credential would be rejected again.
    return first !== undefined && next !== undefined && JSON.stringify(next) === JSON.stringify(first)
      ? undefined
      : next
  }
  return { ...(first && { credential: first }), renew }
}

const matches = (scheme: string, { type }: Credential): boolean =>
  type === 'api_key' ? scheme === 'api_key' : scheme === 'oauth2_bearer'
