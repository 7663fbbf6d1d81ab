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
  /** Reject calls without a delegation chain. */
  readonly required?: boolean
  /** Names of this agent, besides its URL, that chains may have as audience: a DID, an agent URI. */
  readonly identities?: readonly string[]
  /** Finds the keys of issuers. Default: where the issuer's DID or URL publishes them. */
  readonly keysOf?: (issuer: string) => Promise<readonly VerificationKey[]>
}

/** The options of `createAgent`. */
export interface AgentOptions<C = CheckedCapability> extends Description {
  /** A semantic version, such as "1.0.0". */
  readonly version: string
  readonly capabilities: readonly C[]
  /** Capabilities of earlier versions, which callers may still request (AURI §7). */
  readonly olderVersions?: Readonly<Record<string, readonly CheckedCapability[]>>
  /** Address that others reach the agent at, such as `https://planner.example`. Default: the one it listens on. */
  readonly publicUrl?: string
  /** Seconds until directories forget the agent if it does not renew its registration. Default: 3600. */
  readonly lifetime?: number
  /** Offer A2A, which needs `npm install @a2a-js/sdk`. Default: if that is installed. */
  readonly a2a?: boolean
  /** Offer MCP, which needs `npm install @modelcontextprotocol/server`. Default: if that is installed. */
  readonly mcp?: boolean
  /** How callers authenticate. Default: everyone may call. */
  readonly authentication?: AuthenticationOptions
  /** A final check of each call, for consent, contracts or delegation. Default: every call is allowed. */
  readonly allow?: (request: AccessRequest) => boolean | Promise<boolean>
  readonly delegation?: DelegationOptions
  /** Signs the descriptor, webhooks and delegations; the public key is published. */
  readonly key?: SigningKey
  /** Sign responses too (RFC 9421); needs `key`. */
  readonly signResponses?: boolean
  /** What happens to outputs that do not match their schema: `warn` (default) marks them, `strict` returns a 500. */
  readonly checkOutput?: 'warn' | 'strict' | 'off'
  /** Per caller. Default: 600 calls a minute. */
  readonly rateLimit?: RateLimit
  /** Maximum number of concurrent handlers; further calls get a 503. Default: 100. */
  readonly maxCalls?: number
  /** Default: 1 MiB. */
  readonly maxBodyBytes?: number
  /** Seconds that clients may cache the descriptor. Default: 60. */
  readonly descriptorMaxAge?: number
  /** False: the agent publishes no descriptor (AURI §5). */
  readonly publishDescriptor?: boolean
  readonly sessions?: SessionOptions
  /** Where deferred tasks are stored. Default: in memory. */
  readonly taskStore?: TaskStore
  /** Origins whose web pages may call the agent. Default: none. */
  readonly origins?: readonly string[]
  /**
   * Allow webhooks and issuers in private networks and on this machine, the latter over plain HTTP too; for development.
   */
  readonly allowPrivate?: boolean
  /** How `context.call` finds and calls other agents. */
  readonly outgoing?: CallerOptions
  /** Called after every call, without its payload. */
  readonly audit?: (entry: AuditEntry) => void
  /** Called with errors that callers must not see. Default: `console.error`. */
  readonly onError?: (error: unknown) => void
  readonly runtime?: Partial<Runtime>
}

/** The options without the types of handlers, which the compiler has checked. */
export type ErasedOptions = AgentOptions<CheckedCapability | ErasedDefinition>
