import type { SignedComponent } from '@switchboard/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Dictionary, ParseError, parseDictionary } from 'structured-headers'
import { digestOf, type SignatureRequest, type Signing } from '../services/identity/signing.js'
import { headerOf } from './read-request.js'
import { configOf } from './route-group.js'

export interface SignResponsesOptions {
  readonly signing: Signing
  /** Sign responses of agents even if the client did not request it. */
  readonly always: boolean
}

/** Longest label, nonce or tag that is echoed, in characters. */
const MAX_PARAMETER_LENGTH = 256

/**
 * Signs responses on request (Accept-Signature, RFC 9421 §5) and adds only the digest for Want-Content-Digest
 * (RFC 9530). Streams are not signed: their bytes are not known when the headers are sent.
 */
export function signResponses(app: FastifyInstance, { signing, always }: SignResponsesOptions): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { 'accept-signature': accept, 'want-content-digest': want } = request.headers
    const ofGateway = always && isGatewayResponse(request)
    if (accept === undefined && want === undefined && !ofGateway) return done(null, payload)
    if ((typeof payload !== 'string' && !(payload instanceof Uint8Array)) || payload.length === 0)
      return done(null, payload)
    const requested = accept === undefined ? undefined : readRequest(headerOf(request, 'accept-signature') ?? '')
    const signs = ofGateway || requested !== undefined
    if (!signs && !wantsDigest(headerOf(request, 'want-content-digest'))) return done(null, payload)
    reply.header('content-digest', digestOf(payload))
    if (signs) reply.headers({ ...signing.sign(covered(request, reply), requested) })
    done(null, payload)
  })
}

const isGatewayResponse = (request: FastifyRequest): boolean => {
  const { group, route } = configOf(request)
  return route?.limit === 'invoke' || group?.name === 'tasks'
}

/** Covers the request too, so that the response to another request cannot be substituted. */
function covered(request: FastifyRequest, reply: FastifyReply): SignedComponent[] {
  const query = request.url.indexOf('?')
  return [
    { name: '@status', value: String(reply.statusCode) },
    ...['content-type', 'content-digest', 'x-request-id'].flatMap((name) => {
      const value = reply.getHeader(name)
      return value === undefined ? [] : [{ name, value: String(value) }]
    }),
    { name: '@method', value: request.method, ofRequest: true },
    { name: '@path', value: query < 0 ? request.url : request.url.slice(0, query), ofRequest: true },
    { name: '@query', value: query < 0 ? '?' : request.url.slice(query), ofRequest: true },
  ]
}

/** The parameters of the first requested signature that is supported; undefined if none is. */
function readRequest(header: string): SignatureRequest | undefined {
  for (const [label, [, parameters]] of parse(header) ?? []) {
    const { alg, nonce, tag } = Object.fromEntries(parameters)
    if ((alg !== undefined && alg !== 'ed25519') || !isEchoable(label)) continue
    return { label, ...(isEchoable(nonce) && { nonce }), ...(isEchoable(tag) && { tag }) }
  }
  return undefined
}

const isEchoable = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_PARAMETER_LENGTH

/** Any weight but 0 requests the digest. */
function wantsDigest(header: string | undefined): boolean {
  const weight = header === undefined ? undefined : parse(header)?.get('sha-256')?.[0]
  return typeof weight === 'number' && weight > 0
}

/** A malformed header is ignored: the response is still good without a signature. */
function parse(header: string): Dictionary | undefined {
  try {
    return parseDictionary(header)
  } catch (error) {
    if (error instanceof ParseError) return undefined
    throw error
  }
}
