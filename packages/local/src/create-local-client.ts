import { request as httpRequest, type IncomingMessage } from 'node:http'
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
import type { Consent, Permission, PermissionFilter } from './consents/consent.js'
import type { ConsentRequest } from './consents/consent-requests.js'
import { codeOfName, LocalError, systemCodeOf } from './local-error.js'

/** An agent as the runtime lists it. */
export type LocalAgentSummary = Omit<LocalAgent, 'descriptor'>

/** The API of a running runtime, for agents and programs of the user. */
export interface LocalClient {
  agents(): Promise<readonly LocalAgentSummary[]>
  /** Lasts until the agent is removed or stops listening. Without a descriptor, the runtime fetches the agent's own. */
  register(name: string, agent: Target & { readonly descriptor?: JsonObject }): Promise<LocalAgentSummary>
  unregister(name: string): Promise<void>
  /** The consents, and in `questions` the requests that the user has not answered yet. */
  consents(): Promise<{ readonly consents: readonly Consent[]; readonly questions: readonly ConsentRequest[] }>
  /** Grants a permission, also before a page requests it. */
  allow(permission: Permission): Promise<void>
  /** Returns the revoked consents, and in `refused` the number of open requests that were refused. */
  revoke(filter: PermissionFilter): Promise<{ readonly revoked: readonly Consent[]; readonly refused: number }>
  /** Log entries, newest first. */
  log(): Promise<readonly JsonObject[]>
}

/** Timeout in ms of one request. */
const TIMEOUT_MS = 10_000
const MAX_BYTES = 16 * 1024 * 1024

/**
 * Creates a client for the runtime that listens on the socket.
 *
 * @throws {LocalError} each method; `unusable` if no runtime is listening
 */
export function createLocalClient(socket: string): LocalClient {
  const send = async (method: string, path: string, body?: JsonValue): Promise<JsonObject> => {
    const response = await request(socket, method, path, body)
    const bytes = await readBytes(response, MAX_BYTES, tooLarge)
    const value = bytes.byteLength === 0 ? {} : parseJsonBody(bytes)
    const status = response.statusCode ?? 0
    if (status >= 200 && status < 300 && isObject(value)) return value
    throw toError(value, status)
  }
  return {
    agents: async () => asObjects((await send('GET', '/agents')).agents).map(readSummary),
    async register(name, { descriptor, ...target }) {
      const body: JsonObject = { ...target, ...(descriptor && { descriptor }) }
      return readSummary(await send('PUT', `/agents/${encodeURIComponent(name)}`, body))
    },
    async unregister(name) {
      await send('DELETE', `/agents/${encodeURIComponent(name)}`)
    },
    async consents() {
      const { consents, questions } = await send('GET', '/consents')
      return { consents: asObjects(consents).map(readConsent), questions: asObjects(questions).map(readRequest) }
    },
    async allow(permission) {
      await send('POST', '/consents', { ...permission })
    },
    async revoke(filter) {
      const { revoked, refused } = await send('DELETE', `/consents?${new URLSearchParams({ ...filter })}`)
      return { revoked: asObjects(revoked).map(readConsent), refused: typeof refused === 'number' ? refused : 0 }
    },
    log: async () => asObjects((await send('GET', '/log')).entries),
  }
}

function request(socketPath: string, method: string, path: string, body: JsonValue | undefined) {
  const payload = body === undefined ? undefined : JSON.stringify(body)
  const headers = payload === undefined ? {} : { 'content-type': 'application/json' }
  return new Promise<IncomingMessage>((resolve, reject) => {
    const outgoing = httpRequest({ socketPath, method, path, headers, agent: false, timeout: TIMEOUT_MS })
    outgoing.on('response', resolve)
    outgoing.on('timeout', () =>
      outgoing.destroy(new LocalError('timeout', `the local runtime did not respond within ${TIMEOUT_MS / 1000} s`)),
    )
    outgoing.on('error', (cause) => reject(cause instanceof LocalError ? cause : noRuntime(socketPath, cause)))
    outgoing.end(payload)
  })
}

const noRuntime = (path: string, cause: Error): LocalError =>
  new LocalError(
    'unusable',
    `no local runtime is listening on ${path} (${systemCodeOf(cause) ?? cause.message}): start one with switchboard local`,
    { cause },
  )

const tooLarge = (): LocalError =>
  new LocalError('payload_too_large', `the local runtime responded with more than ${MAX_BYTES} bytes`)

function toError(value: JsonValue, status: number): LocalError {
  const problem = isObject(value) && isObject(value.error) ? value.error : {}
  const code = codeOfName(asString(problem.code) ?? '') ?? 'internal_error'
  return new LocalError(code, asString(problem.message) ?? `the local runtime responded with ${status}`)
}

const readSummary = (item: JsonObject): LocalAgentSummary => ({
  name: asString(item.name) ?? '',
  description: asString(item.description) ?? '',
  capabilities: asStrings(item.capabilities),
  target: typeof item.socket === 'string' ? { socket: item.socket } : { url: asString(item.url) ?? '' },
})

const readPermission = (item: JsonObject): Permission => ({
  origin: asString(item.origin) ?? '',
  agent: asString(item.agent) ?? '',
  capability: asString(item.capability) ?? '',
})

const readConsent = (item: JsonObject): Consent => ({
  ...readPermission(item),
  allowedAt: asString(item.allowedAt) ?? '',
})

const readRequest = (item: JsonObject): ConsentRequest => ({
  ...readPermission(item),
  description: asString(item.description) ?? '',
})
