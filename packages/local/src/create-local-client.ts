import { type IncomingMessage, request } from 'node:http'
import {
  asObjects,
  asString,
  asStrings,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJsonBody,
  readBytes,
} from '@switchboard/protocol'
import type { LocalAgent, Target } from './agents/local-agent.js'
import type { Consent, Right, RightFilter } from './consents/consent.js'
import type { Question } from './consents/questions.js'
import { codeOf } from './listen-privately.js'
import { codeNamed, LocalError } from './local-error.js'

/** An agent as the runtime lists it. */
export type LocalAgentSummary = Omit<LocalAgent, 'descriptor'>

/** What agents and the user's programs can ask a running runtime. */
export interface LocalClient {
  agents(): Promise<readonly LocalAgentSummary[]>
  /** Lasts until the agent is removed or stops listening. Without a descriptor, the runtime reads the agent's own. */
  register(name: string, agent: Target & { readonly descriptor?: JsonObject }): Promise<LocalAgentSummary>
  unregister(name: string): Promise<void>
  consents(): Promise<{ readonly consents: readonly Consent[]; readonly questions: readonly Question[] }>
  allow(right: Right): Promise<void>
  /** The revoked consents, and the number of open questions that were declined. */
  revoke(filter: RightFilter): Promise<{ readonly revoked: readonly Consent[]; readonly refused: number }>
  /** Newest first. */
  log(): Promise<readonly JsonObject[]>
}

/** Milliseconds for one request. */
const TIMEOUT_MS = 10_000
const MAX_BYTES = 16 * 1024 * 1024

/**
 * A client for the runtime that listens on a socket.
 *
 * @throws {LocalError} each method; `unusable` if no runtime is listening
 */
export function createLocalClient(socket: string): LocalClient {
  const ask = async (method: string, path: string, body?: JsonValue): Promise<JsonObject> => {
    const answer = await send(socket, method, path, body)
    const bytes = await readBytes(answer, MAX_BYTES, tooLarge)
    const value = bytes.byteLength === 0 ? {} : parseJsonBody(bytes)
    const status = answer.statusCode ?? 0
    if (status >= 200 && status < 300 && isObject(value)) return value
    throw toError(value, status)
  }
  return {
    agents: async () => asObjects((await ask('GET', '/agents')).agents).map(readSummary),
    async register(name, { descriptor, ...target }) {
      const body: JsonObject = { ...target, ...(descriptor && { descriptor }) }
      return readSummary(await ask('PUT', `/agents/${encodeURIComponent(name)}`, body))
    },
    async unregister(name) {
      await ask('DELETE', `/agents/${encodeURIComponent(name)}`)
    },
    async consents() {
      const { consents, questions } = await ask('GET', '/consents')
      return { consents: asObjects(consents).map(readConsent), questions: asObjects(questions).map(readQuestion) }
    },
    async allow(right) {
      await ask('POST', '/consents', { ...right })
    },
    async revoke(filter) {
      const { revoked, refused } = await ask('DELETE', `/consents?${new URLSearchParams({ ...filter })}`)
      return { revoked: asObjects(revoked).map(readConsent), refused: typeof refused === 'number' ? refused : 0 }
    },
    log: async () => asObjects((await ask('GET', '/log')).entries),
  }
}

function send(socketPath: string, method: string, path: string, body: JsonValue | undefined) {
  const payload = body === undefined ? undefined : JSON.stringify(body)
  const headers = payload === undefined ? {} : { 'content-type': 'application/json' }
  return new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers, agent: false, timeout: TIMEOUT_MS })
    sent.on('response', resolve)
    sent.on('timeout', () => sent.destroy(new LocalError('timeout', 'the local runtime did not respond')))
    sent.on('error', (cause) => reject(cause instanceof LocalError ? cause : noRuntime(socketPath, cause)))
    sent.end(payload)
  })
}

const noRuntime = (path: string, cause: Error): LocalError =>
  new LocalError(
    'unusable',
    `no local runtime is listening on ${path} (${codeOf(cause) ?? cause.message}): start one with switchboard local`,
    { cause },
  )

const tooLarge = (): LocalError =>
  new LocalError('too_large', `the local runtime responded with more than ${MAX_BYTES} bytes`)

function toError(value: JsonValue, status: number): LocalError {
  const problem = isObject(value) && isObject(value.error) ? value.error : {}
  const code = codeNamed(asString(problem.code) ?? '') ?? 'internal_error'
  return new LocalError(code, asString(problem.message) ?? `the local runtime responded with ${status}`)
}

const readSummary = (item: JsonObject): LocalAgentSummary => ({
  name: asString(item.name) ?? '',
  description: asString(item.description) ?? '',
  capabilities: asStrings(item.capabilities),
  target: typeof item.socket === 'string' ? { socket: item.socket } : { url: asString(item.url) ?? '' },
})

const readRight = (item: JsonObject): Right => ({
  origin: asString(item.origin) ?? '',
  agent: asString(item.agent) ?? '',
  capability: asString(item.capability) ?? '',
})

const readConsent = (item: JsonObject): Consent => ({ ...readRight(item), allowedAt: asString(item.allowedAt) ?? '' })

const readQuestion = (item: JsonObject): Question => ({
  ...readRight(item),
  description: asString(item.description) ?? '',
})
