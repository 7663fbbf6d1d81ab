export type { Caller } from './auth/caller.js'
export type { ApiKey, AuthenticationOptions, TokenIssuer } from './auth/options.js'
export type { AccessRequest } from './call/admit.js'
export type { AuditEntry } from './call/audit.js'
export type { HandlerContext } from './call/handler-context.js'
export type { RateLimit } from './call/rate-limiter.js'
export type { Session, SessionOptions } from './call/sessions.js'
export {
  type Behaviour,
  type CapabilityDefinition,
  type CheckedCapability,
  capability,
  type HandlerResult,
} from './capability.js'
export { type Agent, createAgent } from './create-agent.js'
export { type AgentHost, type AgentHostOptions, createAgentHost } from './create-agent-host.js'
export type { Description } from './descriptor/description.js'
export { suggestUri } from './descriptor/suggest-uri.js'
export { AgentError, type AgentErrorCode, type AgentErrorOptions } from './errors.js'
export type { Place } from './http/exchange.js'
export type { ListenOptions, TlsOptions } from './node/listen.js'
export type { Listening } from './node/serving.js'
export type { AgentOptions, DelegationOptions } from './options.js'
export type { RegistrationFormat } from './register/documents.js'
export type { AgentRegistration, RegisterOptions } from './register/register-agent.js'
export type { Runtime } from './runtime.js'
export type { FromSchema, HandlerInput, HandlerOutput, ReadonlyJson, Schema, UnknownTypeWord } from './schema/infer.js'
export { withJsonSchema } from './schema/read-schema.js'
export type { Task, TaskStatus, TaskStore } from './tasks/task.js'
