import { createClient, type DirectoryClient, type KeptRegistration, keepRegistered } from '@switchboard/client'
import type { JsonObject } from '@switchboard/protocol'
import { AgentError } from '../errors.js'
import type { Runtime } from '../runtime.js'
import type { RegistrationFormat } from './documents.js'

/** An agent's registration in a directory, kept alive until it is closed. */
export type AgentRegistration = KeptRegistration

export interface RegisterOptions {
  /** The draft to register with; default: AIDIP. */
  readonly format?: RegistrationFormat
  /** A key or JWT of the directory; not needed with a client, which has its own. */
  readonly token?: string
  /** Seconds until the directory drops the agent unless it is renewed; default: the agent's `lifetime`. */
  readonly lifetime?: number
  /** The agent's id in this directory; default: the id or name of the agent. */
  readonly id?: string
  /** Ends the registration, or the attempt to register while the directory is down. */
  readonly signal?: AbortSignal
}

export interface RegisterDeps {
  readonly id: string
  /** Seconds. */
  readonly lifetime: number
  readonly toDocument: (format: RegistrationFormat) => JsonObject
  readonly runtime: Runtime
  readonly onError: (error: unknown) => void
  /** Aborts when the agent is closed. */
  readonly closing: AbortSignal
}

/** Seconds. */
export const LIFETIME = 3600
/** Seconds: the shortest that the Agent Directory grants (AD §4.1). */
const MIN_LIFETIME = 60

/** Registers in a directory and keeps the registration alive; retries while the directory is down. */
export function registerAgent(
  directory: string | URL | DirectoryClient,
  { format = 'aidip', token, id, signal, ...options }: RegisterOptions,
  deps: RegisterDeps,
): Promise<AgentRegistration> {
  const { lifetime = deps.lifetime } = options
  if (!Number.isInteger(lifetime) || lifetime < MIN_LIFETIME) {
    throw new AgentError('invalid_definition', `a lifetime is a whole number of seconds, ${MIN_LIFETIME} or more`)
  }
  const { runtime, onError, closing } = deps
  const client =
    typeof directory === 'string' || directory instanceof URL
      ? createClient({ baseUrl: String(directory), fetch: runtime.fetch, ...(token !== undefined && { token }) })
      : directory
  return keepRegistered(client, {
    document: () => deps.toDocument(format),
    format,
    id: id ?? deps.id,
    lifetime,
    signal: signal ? AbortSignal.any([signal, closing]) : closing,
    onError,
    runtime,
  })
}
