import { assertValid, compileSchema, DirectoryError, invalid, type JsonObject } from '@switchboard/protocol'
import type { Credential, CredentialFacts, Credentials } from '../../services/calls/agent-credentials.js'
import type { Signing } from '../../services/identity/signing.js'
import { idOf } from '../aidip/aidip-routes.js'
import { sendJson } from '../answer.js'
import { readJsonObject } from '../body.js'
import type { Route } from '../route-group.js'

export interface SecretRoutesOptions {
  readonly credentials: Credentials
  readonly signing: Signing
}

/** Visible ASCII: anything else cannot stand in a header, or would be read in two ways. */
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

/** Headers that say something else than who is calling. */
const RESERVED = /^(host|cookie|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|via|x-request-id)$/i

/** What the gateway shows to agents, and what the directory signs with. */
export function secretRoutes({ credentials, signing }: SecretRoutesOptions): Route[] {
  const path = '/admin/agents/:id/credential'
  return [
    {
      method: 'PUT',
      path,
      summary: 'Set the credential that the gateway shows to an agent; it is kept encrypted and never shown',
      access: 'admin',
      body: credentialSchema,
      answers: {
        200: 'set: its type and when',
        404: 'no such agent',
        409: 'the directory has no secret to keep it by',
      },
      handle: async (request, reply) => {
        const credential = toCredential(readJsonObject(request))
        return sendJson(reply, showFacts(await credentials.set(idOf(request), credential, request.caller)))
      },
    },
    {
      method: 'GET',
      path,
      summary: 'Whether a credential is set for an agent, of which type and since when',
      access: 'admin',
      answers: { 200: 'its type and when it was set', 404: 'no such agent, or none is set' },
      handle: (request, reply) => {
        const facts = credentials.facts(idOf(request))
        if (!facts) throw new DirectoryError('not_found', `no credential is set for the agent "${idOf(request)}"`)
        return sendJson(reply, showFacts(facts))
      },
    },
    {
      method: 'DELETE',
      path,
      summary: 'Forget the credential of an agent',
      access: 'admin',
      answers: { 204: 'gone', 404: 'no such agent, or none is set' },
      handle: async (request, reply) => {
        await credentials.remove(idOf(request), request.caller)
        return reply.code(204).send()
      },
    },
    {
      method: 'POST',
      path: '/admin/signing-keys',
      summary: 'Sign with a new key from now on; the one before stays published for a week',
      access: 'admin',
      answers: { 201: 'the public key', 409: 'the directory has no secret to keep it by' },
      handle: async (request, reply) => sendJson(reply.code(201), await signing.rotate(request.caller)),
    },
  ]
}

/** Messages name the member and never its value: it is a secret. */
function toCredential(body: JsonObject): Credential {
  assertValid(checkCredential(body))
  const { type, header = 'X-API-Key' } = body
  const text = (member: string): string => {
    const value = body[member]
    if (typeof value !== 'string') throw invalid([{ at: `/${member}`, message: `is required with type ${type}` }])
    return value
  }
  if (RESERVED.test(String(header))) throw invalid([{ at: '/header', message: 'is not for credentials' }])
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
