import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Dictionary, ParseError, parseDictionary } from 'structured-headers'
import { type Component, contentDigest } from '../services/identity/message-signature.js'
import type { SignatureWish, Signing } from '../services/identity/signing.js'
import { headerOf } from './answer.js'

export interface SignAnswersOptions {
  readonly signing: Signing
  /** Answers of agents are signed without being asked for it. */
  readonly always: boolean
}

/** Characters of a label, nonce or tag that is given back. */
const LONGEST_WORD = 256

/**
 * Signs answers that are wanted so (Accept-Signature, RFC 9421 §5), and adds the digest alone to those that want it
 * (Want-Content-Digest, RFC 9530). A stream is not signed: its bytes are not known when its headers go out.
 */
export function signAnswers(app: FastifyInstance, { signing, always }: SignAnswersOptions): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const { 'accept-signature': accept, 'want-content-digest': want } = request.headers
    const ofGateway = always && isGatewayAnswer(request)
    if (accept === undefined && want === undefined && !ofGateway) return done(null, payload)
    if ((typeof payload !== 'string' && !(payload instanceof Uint8Array)) || payload.length === 0)
      return done(null, payload)
    const wish = accept === undefined ? undefined : readWish(headerOf(request, 'accept-signature') ?? '')
    const signs = ofGateway || wish !== undefined
    if (!signs && !wantsDigest(headerOf(request, 'want-content-digest'))) return done(null, payload)
    reply.header('content-digest', contentDigest(payload))
    if (signs) reply.headers({ ...signing.sign(covered(request, reply), wish) })
    done(null, payload)
  })
}

const isGatewayAnswer = (request: FastifyRequest): boolean => {
  const { group, route } = request.routeOptions.config
  return route?.limit === 'invoke' || group?.name === 'tasks'
}

/** The answer, and the question that it answers: an answer to another one cannot be put in its place. */
function covered(request: FastifyRequest, reply: FastifyReply): Component[] {
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

/** What a client says of the first signature that we can make; undefined: none of them. */
function readWish(header: string): SignatureWish | undefined {
  for (const [label, [, parameters]] of parse(header) ?? []) {
    const { alg, nonce, tag } = Object.fromEntries(parameters)
    if ((alg !== undefined && alg !== 'ed25519') || !isWord(label)) continue
    return { label, ...(isWord(nonce) && { nonce }), ...(isWord(tag) && { tag }) }
  }
  return undefined
}

const isWord = (value: unknown): value is string => typeof value === 'string' && value.length <= LONGEST_WORD

/** Wanted with any weight but 0. */
function wantsDigest(header: string | undefined): boolean {
  const weight = header === undefined ? undefined : parse(header)?.get('sha-256')?.[0]
  return typeof weight === 'number' && weight > 0
}

/** A wish that cannot be read is none: the answer is not worse for it. */
function parse(header: string): Dictionary | undefined {
  try {
    return parseDictionary(header)
  } catch (error) {
    if (error instanceof ParseError) return undefined
    throw error
  }
}
