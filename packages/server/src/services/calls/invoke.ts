import { createHash } from 'node:crypto'
import {
  type AgentRecord,
  DirectoryError,
  IMPLIED_OPERATION,
  isStreamType,
  type Operation,
  STREAM_TYPES,
} from '@switchboard/protocol'
import type { Gateway } from '../../gateway/gateway.js'
import { assertInService, assertMayInvoke } from '../../policy/invocation.js'
import { auditOf, type Context } from '../context.js'
import type { Agent } from '../registry/catalog.js'
import { readAgent } from '../registry/read.js'
import type { Tasks } from '../tasks/tasks.js'
import { type AgentCredential, credentialFor, type KeptCredential } from './admission/agent-credential.js'
import { takesArray } from './admission/choose-operation.js'
import { type ChosenVersion, chooseVersion } from './admission/choose-version.js'
import { createOnce } from './admission/idempotency.js'
import type { Target } from './admission/target.js'
import { invokeBatch } from './invoke-batch.js'
import type { LearnOperations } from './learn-operations.js'
import type { Invocation, Invoked } from './request/invocation.js'
import { mediaTypesOf } from './request/media-types.js'
import type { ReadyCall } from './request/ready-call.js'
import { batchOf, isHeaderSafe, settleCall } from './request/settle-call.js'
import { deferCall, followTask } from './sending/defer-call.js'
import { type CheckedAnswer, type RunDeps, runCall } from './sending/run-call.js'

export interface InvokeDeps {
  readonly context: Context
  /** Undefined: the operator has switched calls off. */
  readonly gateway: Gateway | undefined
  /** Milliseconds for a whole call. */
  readonly timeoutMs: number
  readonly strictOutputs: boolean
  /** Undefined: nothing can be kept for later, as there is no secret to keep it by. */
  readonly tasks: Tasks | undefined
  readonly learnOperations: LearnOperations
  /** The operator's credential for an agent. */
  readonly keptCredential: (agent: Agent) => KeptCredential | undefined
  /** Throws unless the chain of X-Delegation-Chain may call this agent (C-65). */
  readonly checkDelegation: (chain: string, agent: Agent) => Promise<void>
}

/** Calls an agent for a caller, whatever the agent speaks (AIDIP §5). */
export type Invoke = (invocation: Invocation) => Promise<Invoked>

export function createInvoke(deps: InvokeDeps): Invoke {
  const { context } = deps
  return async (invocation) => {
    const { caller } = invocation
    const { agent, record } = readAgent(context, invocation.agent, caller)
    const note = (outcome: 'ok' | 'refused', detail: string): void =>
      context.trail.add(auditOf(caller, 'invoke', context.now(), { agent: record.id, outcome, detail }))
    let version: ChosenVersion | undefined
    try {
      const gateway = assertCallable(deps, agent, invocation)
      assertSomeOperation(agent.record, record)
      version = chooseVersion(record, invocation.version)
      const credential = credentialFor(agent.record, invocation.credentials, deps.keptCredential(agent))
      const chain = invocation.passed['x-delegation-chain']
      if (chain !== undefined) await deps.checkDelegation(chain, agent)
      // Of operations that are kept from the caller nothing is learned either.
      const seen = record === agent.record ? agent : { record: { ...agent.record, operations: record.operations } }
      const operations = await deps.learnOperations(seen, credential)
      const target: Target = { agent, record, operations, version }
      const invoked = await answer({ ...deps, gateway }, invocation, target, credential)
      note('ok', detailOf(invocation, invoked))
      return { ...invoked, headers: { ...invoked.headers, ...versionHeader(version, invoked) } }
    } catch (error) {
      if (!(error instanceof DirectoryError)) throw error
      note('refused', error.code)
      Object.assign(error.headers, versionHeader(version))
      throw error
    }
  }
}

/** The right to call, and that there is something to call with. */
function assertCallable({ context, gateway }: InvokeDeps, agent: Agent, { caller }: Invocation): Gateway {
  assertMayInvoke(agent, caller, context.grantsOf)
  assertInService(agent)
  if (gateway) return gateway
  throw new DirectoryError('not_invocable', 'this directory does not call agents: reach them at their own endpoints')
}

/** Where all operations are kept from the caller there is none to call, and none to be guessed by its name. */
function assertSomeOperation({ id, operations }: AgentRecord, seen: AgentRecord): void {
  if (seen.operations.length > 0 || operations.every(({ name }) => name === IMPLIED_OPERATION)) return
  throw new DirectoryError('not_found', `the agent "${id}" has no operation that you may call`)
}

type Deps = InvokeDeps & RunDeps

async function answer(
  deps: Deps,
  invocation: Invocation,
  target: Target,
  credential: AgentCredential,
): Promise<Invoked> {
  const { context, timeoutMs } = deps
  const settling = { schemas: context.schemas, credential }
  const batch = batchOf(invocation, takesArray(target.operations, invocation.operation))
  if (batch) {
    assertAccepted(invocation, target, undefined)
    const work = (signal: AbortSignal) => invokeBatch({ ...deps, settling }, { ...invocation, signal }, target, batch)
    return atMostOnce(deps, invocation, target, { content: () => batch, isKept: true }, work)
  }
  const settled = settleCall(settling, invocation, target, invocation.input)
  const type = assertAccepted(invocation, target, settled.operation)
  const ready: ReadyCall = { ...settled, wantsStream: settled.wantsStream || isStreamType(type) }
  const once = { content: () => contentOf(ready), isKept: !ready.wantsStream }
  // The agent may put the work off by itself: too late to refuse then.
  if (invocation.callbackUrl !== undefined) deps.tasks?.checkCallback(invocation.callbackUrl)
  return atMostOnce(deps, invocation, target, once, async (signal) => {
    // A wish, which may be passed over (RFC 7240).
    if (invocation.defer && deps.tasks) return deferCall(deps, invocation, { ...ready, wantsStream: false })
    const checked = await runCall(deps, ready, { timeoutMs, signal })
    return checked.kind === 'task' ? followTask(deps, invocation, ready, checked.task) : toInvoked(checked, target)
  })
}

/** 406 where the caller takes nothing that could come (C-69). */
function assertAccepted({ choose }: Invocation, { record }: Target, operation: Operation | undefined): string {
  const own = operation ? mediaTypesOf(record, operation, 'output') : []
  const offered = [...new Set(['application/json', ...STREAM_TYPES, ...own])]
  const type = choose(offered)
  if (type !== undefined) return type
  throw new DirectoryError('not_acceptable', `the answer comes as ${offered.join(', ')}`, {
    members: { supported: offered },
  })
}

/** What a call is about, for telling it from another one. */
function contentOf({ operation, payload, headers }: ReadyCall): unknown {
  const about = [operation.name, headers['x-session-id'], headers['x-task-id']]
  if (payload.kind === 'json') return [...about, payload.value]
  const body = payload.body instanceof Uint8Array ? createHash('sha256').update(payload.body).digest('hex') : ''
  return [...about, payload.contentType, body]
}

/** Once for an Idempotency-Key, if there is one. Where the answer is kept, the call goes on though its caller goes away. */
function atMostOnce(
  { context: { store, now }, timeoutMs }: Deps,
  { idempotencyKey: key, caller, version, signal }: Invocation,
  { agent }: Target,
  { content, isKept }: { content: () => unknown; isKept: boolean },
  work: (signal: AbortSignal) => Promise<Invoked>,
): Promise<Invoked> {
  if (key === undefined) return work(signal)
  const once = createOnce({ store, now, timeoutMs })
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([content(), version]))
    .digest('hex')
  // A later agent of that name is another one.
  const claim = { client: caller.subject ?? '', agent: `${agent.number} ${agent.record.id}`, key, fingerprint }
  return once(claim, () => work(isKept ? new AbortController().signal : signal))
}

function toInvoked(checked: Exclude<CheckedAnswer, { kind: 'task' }>, { record }: Target): Invoked {
  const { status } = checked
  const { 'x-request-id': _, location, ...rest } = checked.headers
  // The address of an agent that keeps some of its document to itself may be what it keeps.
  const headers = location === undefined || record.redacted ? rest : { ...rest, location }
  switch (checked.kind) {
    case 'json': {
      const { value, fits } = checked
      return { kind: 'json', status, value, headers: { ...headers, ...(!fits && { 'x-output-valid': 'false' }) } }
    }
    case 'bytes':
      return { kind: 'bytes', status, headers, contentType: checked.contentType, body: checked.body }
    case 'stream':
      return { kind: 'stream', status, headers, parts: checked.parts }
  }
}

/** What the audit keeps of a call: what was asked and how it ended, nothing of what was said. */
function detailOf({ operation }: Invocation, { status, headers }: Invoked): string {
  const valid = headers['x-output-valid'] === 'false' ? ', output does not fit its schema' : ''
  return `${operation ?? 'invoke'}: ${status}${valid}`
}

/** The answer says which version gave it (C-63); the agent knows best. */
function versionHeader(chosen: ChosenVersion | undefined, invoked?: Invoked): Record<string, string> {
  const version = invoked?.headers['x-agent-version'] ?? chosen?.version
  return version !== undefined && isHeaderSafe(version) ? { 'x-agent-version': version } : {}
}
