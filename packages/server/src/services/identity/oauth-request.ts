import { decodeUtf8, isObject, readBytes } from '@switchboard/protocol'

/** This directory's credentials at an authorisation server. */
export interface OAuthClient {
  readonly id: string
  /** Undefined: a public client, which only names itself. */
  readonly secret?: string
  /** Where the secret is sent: in the header Authorization, or in the form. */
  readonly method?: 'client_secret_basic' | 'client_secret_post'
}

/** A request to an endpoint of an authorisation server, such as its token endpoint. */
export interface OAuthRequest {
  /** Set by the operator, so not restricted to public addresses. */
  readonly url: string
  readonly form: Readonly<Record<string, string>>
  readonly client?: OAuthClient | undefined
  readonly timeoutMs: number
  readonly maxBytes: number
}

export interface OAuthResponse {
  readonly status: number
  /** Empty if the body is not a JSON object. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Sends a form and reads the response as JSON. Throws if there is no complete response within the limits. */
export async function sendOAuthRequest(
  { url, form, client, timeoutMs, maxBytes }: OAuthRequest,
  fetch: typeof globalThis.fetch,
): Promise<OAuthResponse> {
  const { headers, members } = client ? authentication(client) : { headers: {}, members: {} }
  const response = await fetch(url, {
    method: 'POST',
    headers: { accept: 'application/json', ...headers },
    body: new URLSearchParams({ ...form, ...members }),
    redirect: 'error', // the secrets of the form must go nowhere else
    signal: AbortSignal.timeout(timeoutMs),
  })
  const tooLarge = (): Error => new Error(`the response has more than ${maxBytes} bytes`)
  const text = decodeUtf8(response.body ? await readBytes(response.body, maxBytes, tooLarge) : new Uint8Array())
  return { status: response.status, body: jsonObject(text) }
}

interface Authentication {
  readonly headers: Record<string, string>
  readonly members: Record<string, string>
}

function authentication({ id, secret, method }: OAuthClient): Authentication {
  if (secret === undefined) return { headers: {}, members: { client_id: id } }
  if (method === 'client_secret_post') return { headers: {}, members: { client_id: id, client_secret: secret } }
  const pair = Buffer.from(`${formEncode(id)}:${formEncode(secret)}`).toString('base64')
  return { headers: { authorization: `Basic ${pair}` }, members: {} }
}

/** Client credentials are form-encoded before they are joined (RFC 6749 §2.3.1). */
const formEncode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

function jsonObject(text: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
