import { type OAuthResponse, sendOAuthRequest } from '../../identity/oauth-request.js'
import { type TokenCredential, tokenTypeUri } from './credential.js'

/** A token that a token endpoint has issued. */
export interface IssuedToken {
  readonly token: string
  /** Milliseconds. */
  readonly lifetimeMs: number
}

/** No token was issued. The message is for the operator: it contains no secret and no text of the response. */
export class TokenRequestError extends Error {
  override readonly name = 'TokenRequestError'
  /** Whether the token endpoint cannot be reached or is overloaded: trying again later may help. */
  readonly isTemporary: boolean

  constructor(message: string, { isTemporary = false, cause }: { isTemporary?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.isTemporary = isTemporary
  }
}

const LIMITS = { timeoutMs: 5000, maxBytes: 65_536 }
/** Characters; agents reject longer headers. */
const MAX_TOKEN = 16_384
/** Seconds, if the response does not say. */
const DEFAULT_LIFETIME = 300
/** Seconds; a token is not kept for longer, whatever the response says. */
const MAX_LIFETIME = 86_400

/** Requests a token for an agent; `subjectToken` is the caller's, for a token exchange. */
export async function requestToken(
  credential: TokenCredential,
  subjectToken: string | undefined,
  fetch: typeof globalThis.fetch,
): Promise<IssuedToken> {
  const { token_url: url, client_id: id, client_secret: secret, token_endpoint_auth_method: method } = credential
  const client =
    id === undefined ? undefined : { id, ...(secret !== undefined && { secret }), ...(method && { method }) }
  let response: OAuthResponse
  try {
    response = await sendOAuthRequest({ url, form: formOf(credential, subjectToken), client, ...LIMITS }, fetch)
  } catch (cause) {
    throw new TokenRequestError(`the token endpoint did not respond: ${reasonOf(cause)}`, { isTemporary: true, cause })
  }
  return readToken(response, subjectToken)
}

function formOf(credential: TokenCredential, subjectToken: string | undefined): Record<string, string> {
  const { scope, audience, resource } = credential
  const target = {
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
    ...(resource !== undefined && { resource }),
  }
  if (credential.type === 'client_credentials') return { grant_type: 'client_credentials', ...target }
  if (subjectToken === undefined) throw new TokenRequestError('there is no token of the caller to exchange')
  const { subject_token_type, actor_token, actor_token_type } = credential
  return {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: subjectToken,
    subject_token_type: subject_token_type ?? tokenTypeUri('access_token'),
    ...(actor_token !== undefined && {
      actor_token,
      actor_token_type: actor_token_type ?? tokenTypeUri('access_token'),
    }),
    ...target,
  }
}

function readToken({ status, body }: OAuthResponse, subjectToken: string | undefined): IssuedToken {
  const { access_token: token, token_type: type, expires_in: expiresIn = DEFAULT_LIFETIME, error } = body
  if (status !== 200) {
    const code = typeof error === 'string' && /^[\w.-]{1,64}$/.test(error) ? ` (${error})` : ''
    const isTemporary = status >= 500 || status === 429
    throw new TokenRequestError(`the token endpoint responded with status ${status}${code}`, { isTemporary })
  }
  if (typeof token !== 'string' || token.length > MAX_TOKEN || !/^[\x21-\x7e]+$/.test(token))
    throw new TokenRequestError('the response of the token endpoint has no usable access_token')
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw new TokenRequestError('the token_type of the issued token is not Bearer')
  // The agent could act as the caller with it, everywhere.
  if (token === subjectToken) throw new TokenRequestError('the token endpoint returned the token of the caller itself')
  const seconds = Number(expiresIn)
  if (!(seconds > 0)) throw new TokenRequestError('the expires_in of the issued token is not a positive number')
  return { token, lifetimeMs: Math.min(seconds, MAX_LIFETIME) * 1000 }
}

/** The code of a network error, or its message; neither contains a secret. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  // `fetch` reports every network error as "fetch failed", with the reason as its cause.
  const cause = error.cause instanceof Error ? error.cause : error
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}
