import { assertValid, compileSchema, DirectoryError, invalid, type JsonObject } from '@switchboard/protocol'
import type { AgentCredentials, Credential, CredentialFacts } from '../../services/calls/admission/agent-credentials.js'
import type { Signing } from '../../services/identity/signing.js'
import { idOf, readJsonObject } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { Route } from '../route-group.js'

export interface SecretRoutesOptions {
  readonly credentials: AgentCredentials
  readonly signing: Signing
}

/** Visible ASCII: anything else is not allowed in a header or is ambiguous there. */
const secret: JsonObject = { type: 'string', minLength: 1, maxLength: 8192, pattern: '^[\\x21-\\x7e]+$' }
const credentialSchema: JsonObject = {
  type: 'object',
  required: ['type'],
  properties: {
    type: { enum: ['bearer', 'api_key', 'basic'] },
    token: secret,
    key: secret,
    header: { type: 'string', minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9-]+$' },
    username: { ...secret, pattern: '^[\\x20-\\x39\\x3b-\\x7e]+$' },
    password: { ...secret, pattern: '^[\\x20-\\x7e]+$' },
  },
  additionalProperties: false,
}
const checkCredential = compileSchema(credentialSchema)

/** Headers that cannot carry a credential. */
const RESERVED = /^(host|cookie|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|via|x-request-id)$/i

/** Credentials that the gateway sends to agents, and the directory's signing keys. */
export function secretRoutes({ credentials, signing }: SecretRoutesOptions): Route[] {
  const path = '/admin/agents/:id/credential'
  return [
    {
      method: 'PUT',
      path,
      summary: 'Set the credential that the gateway sends to an agent; it is stored encrypted and never returned',
      access: 'admin',
      body: credentialSchema,
      responses: {
        200: 'its type, its origins and when it was set',
        404: 'no such agent',
        409: 'SWITCHBOARD_SECRET is not set, so it cannot be stored encrypted',
      },
      handle: async (request, reply) => {
        const credential = toCredential(readJsonObject(request))
        return sendJson(reply, showFacts(await credentials.set(idOf(request), credential, request.caller)))
      },
    },
    {
      method: 'GET',
      path,
      summary: 'Type and time of the credential that is set for an agent',
      access: 'admin',
      responses: { 200: 'its type, its origins and when it was set', 404: 'no such agent, or no credential is set' },
      handle: (request, reply) => {
        const facts = credentials.facts(idOf(request))
        if (!facts) throw new DirectoryError('not_found', `no credential is set for the agent "${idOf(request)}"`)
        return sendJson(reply, showFacts(facts))
      },
    },
    {
      method: 'DELETE',
      path,
      summary: 'Delete the credential of an agent',
      access: 'admin',
      responses: { 204: 'deleted', 404: 'no such agent, or no credential is set' },
      handle: async (request, reply) => {
        await credentials.remove(idOf(request), request.caller)
        return reply.code(204).send()
      },
    },
    {
      method: 'POST',
      path: '/admin/signing-keys',
      summary: 'Rotate the signing key; the previous one stays published for a week',
      access: 'admin',
      responses: { 201: 'the public key', 409: 'SWITCHBOARD_SECRET is not set, so it cannot be stored encrypted' },
      handle: async (request, reply) => sendJson(reply.code(201), await signing.rotate(request.caller)),
    },
  ]
}

/** Error messages name the member, never its value, which is secret. */
function toCredential(body: JsonObject): Credential {
  assertValid(checkCredential(body))
  const { type, header = 'X-API-Key' } = body
  const text = (member: string): string => {
    const value = body[member]
    if (typeof value !== 'string') throw invalid([{ at: `/${member}`, message: `is required with type ${type}` }])
    return value
  }
  if (RESERVED.test(String(header)))
    throw invalid([{ at: '/header', message: 'must be a header that can carry a credential' }])
  switch (type) {
    case 'bearer':
      return { type, token: text('token') }
    case 'basic':
      return { type, username: text('username'), password: text('password') }
    default:
      return { type: 'api_key', key: text('key'), header: String(header) }
  }
}

const showFacts = ({ agent, type, origins, setAt }: CredentialFacts): JsonObject => ({
  agent,
  type,
  origins: [...origins],
  set_at: new Date(setAt).toISOString(),
})
