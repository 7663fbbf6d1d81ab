import { canonicalAuthenticationType } from '@switchboard/protocol'
import type { Endpoint, ResolvedAgent } from '../resolve/resolved-agent.js'
import type { Credential, Credentials } from '../transports/credential.js'

/** What is sent at first, and how another is found if that is refused. */
export interface ChosenCredential {
  readonly credential?: Credential
  readonly renew?: (challenge: string | undefined) => Promise<Credential | undefined>
}

/** Sends a credential where the agent asks for one, and where nothing is known of it what was given for this call. */
export async function chooseCredential(
  { record }: ResolvedAgent,
  endpoint: Endpoint,
  place: { readonly uri: string; readonly url: string },
  credentials: Credentials | undefined,
): Promise<ChosenCredential> {
  if (credentials === undefined) return {}
  const stated = endpoint.security ?? record?.authentication?.schemes ?? []
  const schemes = stated.map((word) => canonicalAuthenticationType(word) ?? word).filter((word) => word !== 'none')
  const need = { ...place, schemes }
  const ask = typeof credentials === 'function' ? credentials : () => credentials
  const first =
    typeof credentials === 'function'
      ? schemes.length > 0
        ? await credentials(need)
        : undefined
      : !record || schemes.some((scheme) => fits(scheme, credentials))
        ? credentials
        : undefined
  const renew = async (challenge: string | undefined): Promise<Credential | undefined> => {
    const next = await ask({ ...need, ...(challenge !== undefined && { challenge }) })
    // The same again would be refused again.
    return first !== undefined && next !== undefined && JSON.stringify(next) === JSON.stringify(first)
      ? undefined
      : next
  }
  return { ...(first && { credential: first }), renew }
}

const fits = (scheme: string, { type }: Credential): boolean =>
  type === 'api_key' ? scheme === 'api_key' : scheme === 'oauth2_bearer'
