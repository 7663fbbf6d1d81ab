import { DirectoryError, type JsonObject } from '@switchboard/protocol'
import type { AgentCredentials, CredentialFacts } from '../../services/calls/admission/agent-credentials.js'
import { credentialSchema, parseCredential } from '../../services/calls/admission/credential.js'
import type { Signing } from '../../services/identity/signing.js'
import { publicKeySchema } from '../descriptors/response-schemas.js'
import { idOf, readJsonObject } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { Route } from '../route-group.js'
import { json } from '../schemas/response.js'
import { credentialFactsSchema } from './response-schemas.js'

export interface SecretRoutesOptions {
  readonly credentials: AgentCredentials
  readonly signing: Signing
}

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
        200: json('its type, its origins and when it was set', credentialFactsSchema),
        404: 'no such agent',
        409: 'SWITCHBOARD_SECRET is not set, so it cannot be stored encrypted',
      },
      handle: async (request, reply) => {
        const credential = parseCredential(readJsonObject(request))
        return sendJson(reply, showFacts(await credentials.set(idOf(request), credential, request.caller)))
      },
    },
    {
      method: 'GET',
      path,
      summary: 'The credential that is set for an agent, without its secrets',
      access: 'admin',
      responses: {
        200: json(
          'its type, its origins, when it was set, and why the last request for a token failed',
          credentialFactsSchema,
        ),
        404: 'no such agent, or no credential is set',
      },
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
      responses: {
        201: json('the public key', publicKeySchema),
        409: 'SWITCHBOARD_SECRET is not set, so it cannot be stored encrypted',
      },
      handle: async (request, reply) => sendJson(reply.code(201), await signing.rotate(request.caller)),
    },
  ]
}

const showFacts = ({ agent, type, origins, setAt, target, lastFailure }: CredentialFacts): JsonObject => ({
  agent,
  type,
  ...target,
  origins: [...origins],
  set_at: new Date(setAt).toISOString(),
  ...(lastFailure && { last_failure: { at: new Date(lastFailure.at).toISOString(), reason: lastFailure.reason } }),
})
