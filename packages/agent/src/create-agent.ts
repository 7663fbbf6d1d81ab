import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { DirectoryClient } from '@switchboard/client'
import type { JsonObject } from '@switchboard/protocol'
import { type AgentParts, createParts } from './agent-parts.js'
import type { CapabilityDefinition, CheckedCapability } from './capability.js'
import type { Description } from './descriptor/description.js'
import type { Place } from './http/exchange.js'
import type { ListenOptions } from './node/listen.js'
import { createServing, type Listening } from './node/serving.js'
import type { AgentOptions } from './options.js'
import { toRegistration } from './register/documents.js'
import { type AgentRegistration, LIFETIME, type RegisterOptions, registerAgent } from './register/register-agent.js'
import type { Schema } from './schema/infer.js'

/** An agent that can be called. */
export interface Agent {
  readonly name: string
  /** The URL that others reach the agent at, without a trailing slash; undefined until it is known. */
  readonly url: string | undefined
  /** Serves HTTP or HTTPS, WebSocket and, if requested, a Unix socket. */
  listen(options?: ListenOptions): Promise<Listening>
  /**
   * Registers in a directory, and keeps the registration alive until the agent is closed. While the directory is down
   * this retries, and the promise stays pending; it rejects if the directory refuses the registration.
   */
  register(directory: string | URL | DirectoryClient, options?: RegisterOptions): Promise<AgentRegistration>
  /** Changes the description in the descriptor, and in every directory that the agent is registered in. */
  update(changes: Partial<Omit<Description, 'name' | 'id'>>): void
  /** The document at /.well-known/agent.json, signed if the agent has a key. */
  descriptor(): Promise<JsonObject>
  /** Says where your own server serves the agent; its descriptor and registrations then contain this URL. */
  servedAt(url: string, options?: { readonly webSocket?: boolean }): void
  /** Handles one request, for servers that use the Fetch API. */
  fetch(request: Request, place?: Place): Promise<Response>
  /** Handles one request of a Node server. */
  handle(request: IncomingMessage, response: ServerResponse): void
  /** Handles the `upgrade` event of a Node server. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, place?: Place): void
  /** Deregisters from every directory, lets calls in progress finish, and stops. */
  close(): Promise<void>
  /** JSON Web Keys that verify the agent's signatures. */
  readonly publicKeys: readonly JsonObject[]
}

/**
 * Turns functions into an agent.
 *
 * @example
 * const agent = createAgent({
 *   name: 'greeter',
 *   version: '1.0.0',
 *   description: 'Greets people by their name.',
 *   capabilities: [
 *     {
 *       name: 'greet',
 *       input: { name: 'string' },
 *       output: { text: 'string' },
 *       handler: ({ name }) => ({ text: `Hello, ${name}!` }), // a string, because the input schema says so
 *     },
 *   ],
 * })
 * const { url } = await agent.listen({ port: 8080 })
 *
 * @throws {AgentError} `invalid_definition` with what is wrong with the options
 */
// The compiler infers the types of handlers reliably only if each capability has type parameters of its own.
// biome-ignore format: a table
export function createAgent<
  const I1 extends Schema, const I2 extends Schema, const I3 extends Schema, const I4 extends Schema,
  const I5 extends Schema, const I6 extends Schema, const I7 extends Schema, const I8 extends Schema,
  const I9 extends Schema, const I10 extends Schema, const I11 extends Schema, const I12 extends Schema,
  const O1 extends Schema, const O2 extends Schema, const O3 extends Schema, const O4 extends Schema,
  const O5 extends Schema, const O6 extends Schema, const O7 extends Schema, const O8 extends Schema,
  const O9 extends Schema, const O10 extends Schema, const O11 extends Schema, const O12 extends Schema,
>(
  options: Omit<AgentOptions, 'capabilities'> & {
    /** At most 12 definitions; for longer lists and those made elsewhere, use `capability()`. */
    readonly capabilities:
      | readonly CheckedCapability[]
      | readonly [
          CapabilityDefinition<I1, O1>, CapabilityDefinition<I2, O2>?, CapabilityDefinition<I3, O3>?,
          CapabilityDefinition<I4, O4>?, CapabilityDefinition<I5, O5>?, CapabilityDefinition<I6, O6>?,
          CapabilityDefinition<I7, O7>?, CapabilityDefinition<I8, O8>?, CapabilityDefinition<I9, O9>?,
          CapabilityDefinition<I10, O10>?, CapabilityDefinition<I11, O11>?, CapabilityDefinition<I12, O12>?,
        ]
  },
): Agent {
  const capabilities = [...options.capabilities].filter((definition) => definition !== undefined)
  const parts: AgentParts = createParts({ ...options, capabilities })
  const { onError, runtime, respond, upgrades } = parts
  const serving = createServing({ respond, upgrade: upgrades.handle }, onError)
  const registrations = new Set<AgentRegistration>()
  const closing = new AbortController()
  let closed: Promise<void> | undefined

  const updateRegistrations = (): void => {
    for (const registration of registrations) registration.changed()
  }

  const close = async (): Promise<void> => {
    closing.abort()
    await Promise.all([...registrations].map(({ closed: left }) => left))
    parts.stop()
    await serving.close()
    await parts.close()
  }

  return {
    name: options.name,
    publicKeys: parts.publicKeys,
    get url() {
      return parts.reach().baseUrl
    },
    async listen(listenOptions = {}) {
      const listening = await serving.listen(listenOptions, options.publicUrl === undefined ? undefined : withoutTrailingSlash(options.publicUrl))
      parts.setReach({ baseUrl: listening.url, socket: listening.socket, hasWebSocket: true })
      updateRegistrations()
      return listening
    },
    async register(directory, registerOptions = {}) {
      const registration = await registerAgent(directory, registerOptions, {
        id: options.id ?? options.name,
        lifetime: options.lifetime ?? LIFETIME,
        toDocument: (format) =>
          toRegistration(format, { ...parts, description: parts.description(), reach: parts.reach() }),
        runtime,
        onError,
        closing: closing.signal,
      })
      registrations.add(registration)
      void registration.closed.then(() => registrations.delete(registration))
      return registration
    },
    update(changes) {
      parts.describe(changes)
      updateRegistrations()
    },
    descriptor: () => parts.descriptor(parts.reach().baseUrl),
    servedAt(url, { webSocket = false } = {}) {
      parts.setReach({ baseUrl: withoutTrailingSlash(url), hasWebSocket: webSocket })
      updateRegistrations()
    },
    fetch: (request, place = {}) => respond(request, { ...knownBase(parts), ...place }),
    handle: (request, response) => serving.handle(request, response, parts.reach().baseUrl),
    upgrade: (request, socket, head, place) =>
      place
        ? void upgrades.handle(request, socket, head, place).catch(onError)
        : serving.upgrade(request, socket, head, parts.reach().baseUrl),
    close() {
      closed ??= close()
      return closed
    },
  }
}

const withoutTrailingSlash = (url: string): string => new URL(url).href.replace(/\/+$/, '')

const knownBase = ({ reach }: AgentParts): Place => {
  const { baseUrl } = reach()
  return baseUrl === undefined ? {} : { baseUrl }
}
