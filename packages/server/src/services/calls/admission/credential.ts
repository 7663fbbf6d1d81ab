import { assertValid, compileSchema, invalid, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'

/** A credential that is sent as it was set. */
export type FixedCredential =
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'api_key'; readonly key: string; readonly header: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }

/** What a token is for, at a token endpoint. Members are named like the parameters of RFC 6749, 8693 and 8707. */
interface TokenTarget {
  readonly token_url: string
  readonly scope?: string
  readonly audience?: string
  readonly resource?: string
  readonly token_endpoint_auth_method?: 'client_secret_basic' | 'client_secret_post'
}

/** The directory's own token for the agent (RFC 6749 §4.4). */
export interface ClientCredentials extends TokenTarget {
  readonly type: 'client_credentials'
  readonly client_id: string
  readonly client_secret: string
}

/** A token for the agent in exchange for the caller's own (RFC 8693). */
export interface TokenExchange extends TokenTarget {
  readonly type: 'token_exchange'
  readonly client_id?: string
  readonly client_secret?: string
  readonly subject_token_type?: string
  readonly actor_token?: string
  readonly actor_token_type?: string
}

/** A credential for which the directory requests tokens. */
export type TokenCredential = ClientCredentials | TokenExchange

/** A credential that the gateway sends to an agent, set by the operator (C-96). */
export type Credential = FixedCredential | TokenCredential

/** Visible ASCII: anything else is not allowed in a header or is ambiguous there. */
const secret: JsonObject = { type: 'string', minLength: 1, maxLength: 8192, pattern: '^[\\x21-\\x7e]+$' }
const text: JsonObject = { type: 'string', minLength: 1, maxLength: 2048, pattern: '^[\\x20-\\x7e]+$' }
const tokenType: JsonObject = { enum: ['access_token', 'id_token', 'jwt'].map((type) => tokenTypeUri(type)) }

/** Describes the body of a request that sets a credential. Which members are required depends on `type`. */
export const credentialSchema: JsonObject = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { enum: ['bearer', 'api_key', 'basic', 'client_credentials', 'token_exchange'] },
    token: secret,
    key: secret,
    header: { type: 'string', minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9-]+$' },
    username: { ...secret, pattern: '^[\\x20-\\x39\\x3b-\\x7e]+$' },
    password: { ...secret, pattern: '^[\\x20-\\x7e]+$' },
    token_url: { type: 'string', minLength: 1, maxLength: 2048 },
    client_id: text,
    client_secret: { ...secret, pattern: '^[\\x20-\\x7e]+$' },
    token_endpoint_auth_method: { enum: ['client_secret_basic', 'client_secret_post'] },
    scope: text,
    audience: text,
    resource: text,
    subject_token_type: tokenType,
    actor_token: secret,
    actor_token_type: tokenType,
  },
  additionalProperties: false,
}
const checkCredential = compileSchema(credentialSchema)

const TARGET = ['scope', 'audience', 'resource', 'token_endpoint_auth_method']

/** The members of each type: those that it requires, and those that it may have. */
const MEMBERS: Record<Credential['type'], { readonly required: string[]; readonly optional: string[] }> = {
  bearer: { required: ['token'], optional: [] },
  api_key: { required: ['key'], optional: ['header'] },
  basic: { required: ['username', 'password'], optional: [] },
  client_credentials: { required: ['token_url', 'client_id', 'client_secret'], optional: TARGET },
  token_exchange: {
    required: ['token_url'],
    optional: ['client_id', 'client_secret', 'subject_token_type', 'actor_token', 'actor_token_type', ...TARGET],
  },
}

/** Headers that cannot carry a credential. */
const RESERVED = /^(host|cookie|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|via|x-request-id)$/i

/** Whether a header is not for publishers or operators to set. */
export const isReservedHeader = (name: string): boolean =>
  RESERVED.test(name) ||
  /^(accept|accept-.*|mcp-.*|proxy-.*|keep-alive|user-agent|x-forwarded-.*|forwarded)$/i.test(name)

/** Reads a credential. The issues of an invalid one name the members, never their values, which are secret. */
export function parseCredential(body: JsonObject): Credential {
  assertValid(checkCredential(body))
  const credential = body.type === 'api_key' ? { header: 'X-API-Key', ...body } : body
  if (!hasMembers(credential)) throw invalid([{ at: '/type', message: 'is unknown' }])
  if (credential.type === 'api_key' && RESERVED.test(credential.header))
    throw invalid([{ at: '/header', message: 'must be a header that can carry a credential' }])
  if (isTokenCredential(credential)) checkTarget(credential)
  return credential
}

/** Reads a stored credential; `undefined` if the value is not a valid one. */
export function readCredential(value: JsonValue | undefined): Credential | undefined {
  try {
    return isObject(value) ? parseCredential(value) : undefined
  } catch {
    return undefined
  }
}

/** Whether a body that matches the schema has the members of its type; throws if it lacks one or has others. */
function hasMembers(body: JsonObject): body is JsonObject & Credential {
  const type = String(body.type)
  if (!isType(type)) return false
  const { required, optional } = MEMBERS[type]
  const missing = required.filter((member) => body[member] === undefined)
  const others = Object.keys(body).filter((member) => ![...required, ...optional, 'type'].includes(member))
  if (missing.length === 0 && others.length === 0) return true
  throw invalid([
    ...missing.map((member) => ({ at: `/${member}`, message: `is required with type ${type}` })),
    ...others.map((member) => ({ at: `/${member}`, message: `is not a member of type ${type}: remove it` })),
  ])
}

const isType = (type: string): type is Credential['type'] => Object.hasOwn(MEMBERS, type)

function checkTarget({ type, token_url: tokenUrl, ...credential }: TokenCredential): void {
  if (!isSecureUrl(tokenUrl))
    throw invalid([
      { at: '/token_url', message: 'must be an https URL (http only on this machine), without a fragment' },
    ])
  if (credential.client_secret !== undefined && credential.client_id === undefined)
    throw invalid([{ at: '/client_id', message: 'is required with client_secret' }])
  // Without a target, the exchanged token could be valid at services that the caller did not choose to call.
  if (type === 'token_exchange' && credential.audience === undefined && credential.resource === undefined)
    throw invalid([{ at: '/audience', message: 'is required with type token_exchange, unless resource is given' }])
}

/** Token endpoints require TLS (RFC 6749 §3.2); the loopback interface needs none. */
function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, username, password, hash } = new URL(text)
  if (username !== '' || password !== '' || hash !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname))
}

/** The URI of a token type of RFC 8693 §3. */
export function tokenTypeUri(type: string): string {
  return `urn:ietf:params:oauth:token-type:${type}`
}

/** The headers that carry a fixed credential. */
export function headersOf(credential: FixedCredential): Record<string, string> {
  switch (credential.type) {
    case 'bearer':
      return { authorization: `Bearer ${credential.token}` }
    case 'api_key':
      return { [credential.header.toLowerCase()]: credential.key }
    case 'basic': {
      const pair = Buffer.from(`${credential.username}:${credential.password}`).toString('base64')
      return { authorization: `Basic ${pair}` }
    }
  }
}

export const isTokenCredential = (credential: Credential): credential is TokenCredential =>
  credential.type === 'client_credentials' || credential.type === 'token_exchange'

/** The members of a token credential that are not secret. */
export function showTarget({ token_url, client_id, scope, audience, resource }: TokenCredential): JsonObject {
  return {
    token_url,
    ...(client_id !== undefined && { client_id }),
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
    ...(resource !== undefined && { resource }),
  }
}
