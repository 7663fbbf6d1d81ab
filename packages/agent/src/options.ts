import type { CallerOptions } from '@switchboard/client'
import type { SigningKey, VerificationKey } from '@switchboard/protocol'
import type { AuthenticationOptions } from './auth/options.js'
import type { AccessRequest } from './call/admit.js'
import type { AuditEntry } from './call/audit.js'
import type { RateLimit } from './call/rate-limiter.js'
import type { SessionOptions } from './call/sessions.js'
import type { CheckedCapability, ErasedDefinition } from './capability.js'
import type { Description } from './descriptor/description.js'
import type { Runtime } from './runtime.js'
import type { TaskStore } from './tasks/task.js'

export interface DelegationOptions {
  /** Calls without a chain are refused. */
  readonly required?: boolean
  /** Names of this agent that chains may be made out to, beside its URL: a DID, an agent URI. */
  readonly identities?: readonly string[]
  /** Keys of those who hand tasks on; by default they are looked up where their name says. */
  readonly keysOf?: (issuer: string) => Promise<readonly VerificationKey[]>
}

/** An agent: what it is, what it can do, and whom it serves. */
export interface AgentOptions<C = CheckedCapability> extends Description {
  /** Semantic, such as "1.0.0". */
  readonly version: string
  readonly capabilities: readonly C[]
  /** What the agent could do before, by version: callers may still ask for it (AURI §7). */
  readonly olderVersions?: Readonly<Record<string, readonly CheckedCapability[]>>
  /** Address that others reach the agent at, such as `https://planner.example`. Default: the one it listens on. */
  readonly publicUrl?: string
  /** Seconds until directories forget the agent if it does not renew its registration. Default: 3600. */
  readonly lifetime?: number
  /** Offer A2A, which needs `npm install @a2a-js/sdk`. Default: if that is installed. */
  readonly a2a?: boolean
  /** Offer MCP, which needs `npm install @modelcontextprotocol/sdk`. Default: if that is installed. */
  readonly mcp?: boolean
  /** Without it everybody may call. */
  readonly authentication?: AuthenticationOptions
  /** The last word on a call: consent, contracts, whose delegation counts. Everybody unless told. */
  readonly allow?: (request: AccessRequest) => boolean | Promise<boolean>
  readonly delegation?: DelegationOptions
  /** Signs the descriptor, webhooks and hops of delegation; its public half is published. */
  readonly key?: SigningKey
  /** Signs answers too (RFC 9421); needs a key. */
  readonly signResponses?: boolean
  /** Whether outputs are checked: `warn` marks an answer that does not fit, `strict` makes it an error. */
  readonly checkOutput?: 'warn' | 'strict' | 'off'
  /** For each caller; 600 calls a minute unless told. */
  readonly rateLimit?: RateLimit
  /** Handlers at work at once; 100 unless told. */
  readonly maxCalls?: number
  /** Of a request; 1 MiB unless told. */
  readonly maxBodyBytes?: number
  /** Seconds that clients may keep the descriptor; a minute unless told. */
  readonly descriptorMaxAge?: number
  /** False: there is no descriptor to be had (AURI §5). */
  readonly publishDescriptor?: boolean
  readonly sessions?: SessionOptions
  /** Where deferred tasks are kept; in memory unless told. */
  readonly taskStore?: TaskStore
  /** Origins whose pages may call this agent; none unless told. */
  readonly origins?: readonly string[]
  /** Webhooks and issuers on this machine and in private networks too, by plain HTTP: for development. */
  readonly allowPrivate?: boolean
  /** How `context.call` finds and calls other agents. */
  readonly outgoing?: CallerOptions
  /** Told of every call, without its payload. */
  readonly audit?: (entry: AuditEntry) => void
  /** Told what went wrong that no caller should see; the console unless told. */
  readonly onError?: (error: unknown) => void
  readonly runtime?: Partial<Runtime>
}

/** Options as the kit reads them: the compiler has checked the types of handlers. */
export type ErasedOptions = AgentOptions<CheckedCapability | ErasedDefinition>
