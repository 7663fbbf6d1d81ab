import { createClient, type DirectoryClient } from '@switchboard/client'
import type { JsonObject } from '@switchboard/protocol'
import { AgentError } from '../errors.js'
import type { Runtime } from '../runtime.js'
import type { RegistrationFormat } from './documents.js'
import { type AgentRegistration, keepRegistered } from './keep-registered.js'

export interface RegisterOptions {
  /** Which draft is spoken with the directory; AIDIP unless told. */
  readonly format?: RegistrationFormat
  /** A key or JWT of the directory; for a client that is given, the client knows it. */
  readonly token?: string
  /** Seconds until the directory forgets the agent if it does not renew. Default: the agent's `lifetime`. */
  readonly lifetime?: number
  /** The agent's id in this directory, where it should be another than elsewhere. */
  readonly id?: string
}

export interface RegisterDeps {
  readonly id: string
  /** Seconds. */
  readonly lifetime: number
  readonly toDocument: (format: RegistrationFormat) => JsonObject
  readonly runtime: Runtime
  readonly onError: (error: unknown) => void
}

/** Seconds. */
export const LIFETIME = 3600
/** Seconds: the shortest that the Agent Directory grants (AD §4.1). */
const SHORTEST = 60

/** Registers in a directory through one of its faces, and keeps the registration alive. */
export function registerAgent(
  directory: string | URL | DirectoryClient,
  { format = 'aidip', token, id, ...options }: RegisterOptions,
  deps: RegisterDeps,
): Promise<AgentRegistration> {
  const { lifetime = deps.lifetime } = options
  if (!Number.isInteger(lifetime) || lifetime < SHORTEST) {
    throw new AgentError('invalid_definition', `a lifetime is a whole number of seconds, ${SHORTEST} or more`)
  }
  const { runtime, onError } = deps
  const isUrl = typeof directory === 'string' || directory instanceof URL
  const client = isUrl
    ? createClient({ baseUrl: String(directory), fetch: runtime.fetch, ...(token !== undefined && { token }) })
    : directory
  const deregister = async (href: string, signal: AbortSignal): Promise<void> => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const { ok, status } = await runtime.fetch(href, { method: 'DELETE', headers, redirect: 'error', signal })
    if (!ok && status !== 404) throw new AgentError('agent_error', `the directory answers ${status} to the farewell`)
  }
  return keepRegistered({
    client,
    format,
    id: id ?? deps.id,
    lifetime,
    document: () => deps.toDocument(format),
    deregister: isUrl ? deregister : undefined,
    runtime,
    onError,
  })
}
