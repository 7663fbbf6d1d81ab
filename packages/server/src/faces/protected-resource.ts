import type { DirectoryError, JsonObject } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import { headerOf } from './read-request.js'
import { sendJson } from './respond.js'
import type { RouteGroup } from './route-group.js'
import { flag, object, text, texts } from './schemas/parts.js'
import { json } from './schemas/response.js'

const METADATA_PATH = '/.well-known/oauth-protected-resource'
/** Seconds for which clients may keep the metadata. */
const MAX_AGE = 300

export interface ProtectedResourceOptions {
  readonly baseUrl: () => string
  /** Issuers whose tokens are accepted. */
  readonly issuers: readonly string[]
  readonly scopes: readonly string[]
  /** Whether clients can present certificates, and with them tokens that are bound to one. */
  readonly clientCertificates: boolean
}

const metadataSchema = object(
  {
    resource: text,
    authorization_servers: texts,
    jwks_uri: text,
    scopes_supported: texts,
    bearer_methods_supported: texts,
    resource_name: text,
    resource_documentation: text,
    tls_client_certificate_bound_access_tokens: flag,
  },
  'authorization_servers',
)

/** What a client needs to know to get a token for this directory (RFC 9728). */
export function createProtectedResourceRoutes(options: ProtectedResourceOptions): RouteGroup {
  const { baseUrl, issuers, scopes, clientCertificates } = options
  const metadata = (): JsonObject => ({
    resource: baseUrl(),
    ...(issuers.length > 0 && { authorization_servers: [...issuers] }),
    jwks_uri: `${baseUrl()}/.well-known/jwks.json`,
    scopes_supported: [...scopes],
    bearer_methods_supported: ['header'],
    resource_name: 'Switchboard',
    resource_documentation: `${baseUrl()}/docs`,
    tls_client_certificate_bound_access_tokens: clientCertificates,
  })
  return {
    name: 'protected resource',
    summary: 'Which issuers and scopes there are (RFC 9728)',
    errors: 'application/problem+json',
    routes: [
      {
        method: 'GET',
        path: METADATA_PATH,
        summary: 'Where to get tokens for this directory, and with which scopes (RFC 9728)',
        access: 'open',
        responses: { 200: json('the metadata', metadataSchema) },
        handle: (_request, reply) => sendJson(reply.header('cache-control', `public, max-age=${MAX_AGE}`), metadata()),
      },
    ],
  }
}

/**
 * The `WWW-Authenticate` of every 401 of the directory (RFC 6750 §3, RFC 9728 §5.1). Only a request with a credential
 * learns what is wrong with it.
 */
export function challengeOf(error: DirectoryError, request: FastifyRequest, baseUrl: string): string {
  const hasCredential =
    /^Bearer /i.test(request.headers.authorization ?? '') || headerOf(request, 'x-api-key') !== undefined
  const parameters = {
    realm: 'switchboard',
    ...(hasCredential && { error: 'invalid_token', error_description: quotable(error.message) }),
    resource_metadata: baseUrl + METADATA_PATH,
  }
  return `Bearer ${Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`
}

/** The characters that a description may contain (RFC 6750 §3). */
const quotable = (text: string): string => text.replaceAll(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, "'")
