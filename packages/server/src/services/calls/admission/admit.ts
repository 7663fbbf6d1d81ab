import {
  type AgentRecord,
  agreeOnVersion,
  checkOrder,
  DirectoryError,
  IMPLIED_OPERATION,
  isObject,
  type Operation,
  plainRecord,
  readHop,
  redactRecord,
  SigningError,
  selectVersion,
  splitChain,
} from '@switchboard/protocol'
import { assertInService, assertMayInvoke } from '../../../policy/invocation.js'
import { isOpenToAnything } from '../../learning/operation-source.js'
import type { Agent } from '../../registry/catalog.js'
import type { Readable } from '../../registry/read.js'
import type { CallDeps } from '../call-deps.js'
import type { Invocation, Places } from '../request/invocation.js'
import { type AgentCredential, chooseCredential, credentialAtOrigin } from './choose-credential.js'
import { isCalledThroughOrigin, latestEndpoints } from './endpoints.js'
import type { CalledAgent } from './learn-operations.js'
import { completeEndpoints } from './remote-inputs.js'

/** The version of an agent to call. */
export interface ChosenVersion {
  /** X-Agent-Version, for the agent and for the response; empty if the version is unknown or not fit for a header. */
  readonly headers: Readonly<Record<string, string>>
  /** Where this version is served, relative to the agent's endpoint; undefined: at the endpoint. */
  readonly base: string | undefined
}

/** What the caller may call, independent of the input: a batch prepares all of its calls from one admission. */
export interface Admission {
  readonly agent: Agent
  /** The record as the caller sees it. */
  readonly record: AgentRecord
  readonly version: ChosenVersion
  readonly credential: AgentCredential
  /** The operations that the caller may call; empty if the agent describes none. */
  readonly operations: readonly Operation[]
  /** Whether the agent also understands requests that name no operation. */
  readonly isOpen: boolean
}

export interface AdmitDeps extends Pick<CallDeps, 'context' | 'learnOperations' | 'storedCredential'> {
  /** False: the operator has disabled calls. */
  readonly enabled: boolean
}

/**
 * Admits an invocation, or throws: may the caller call this agent, in this version, with this credential? A promise only if
 * there is something to wait for.
 */
export function admit(
  deps: AdmitDeps,
  invocation: Invocation,
  { agent, record }: Readable,
): Admission | Promise<Admission> {
  assertMayInvoke(agent, invocation.caller, deps.context.grantsOf)
  assertInService(agent)
  if (!deps.enabled)
    throw new DirectoryError('not_invocable', 'this directory does not call agents: call them at their own endpoints')
  assertVisibleOperation(agent.record, record)
  const version = chooseVersion(record, invocation.version)
  invocation.onHeaders?.({ ...version.headers, ...originHeaders(agent) })
  checkDelegation(invocation.forwarded['x-delegation-chain'])
  const { caller, credentials } = invocation
  const stored = deps.storedCredential(agent)
  const chosen = isCalledThroughOrigin(agent)
    ? credentialAtOrigin(credentials, stored)
    : chooseCredential(agent.record, caller, credentials, stored)
  return chosen instanceof Promise
    ? chosen.then((credential) => admitWith(deps, { agent, record, version, credential }))
    : admitWith(deps, { agent, record, version, credential: chosen })
}

function admitWith(deps: AdmitDeps, known: Omit<Admission, 'operations' | 'isOpen'>): Admission | Promise<Admission> {
  const { agent, record, version, credential } = known
  // Before anything is sent, also before a list of operations is requested.
  completeEndpoints(
    record.id,
    latestEndpoints(agent, () => deps.context.catalog.facts(agent).baseUrl),
    credential,
  )
  const isOpen = isOpenToAnything(agent.published)
  const learned = deps.learnOperations(asCalled(agent, record), credential)
  return learned instanceof Promise
    ? learned.then((operations) => ({ agent, record, version, credential, operations, isOpen }))
    : { agent, record, version, credential, operations: learned, isOpen }
}

/** The agent with all its endpoints, and the operations that the caller sees. */
function asCalled({ record: whole, published }: Agent, record: AgentRecord): CalledAgent {
  if (record === whole) return { published, known: record.operations, isRestricted: false }
  const { operations } = redactRecord(published)
  const isRestricted = operations.length < published.operations.length
  return { published: { ...plainRecord(published), operations }, known: record.operations, isRestricted }
}

/** Names the directory where the agent is registered, if that is another one. */
export const originHeaders = ({ stored: { marks } }: Agent): Record<string, string> =>
  marks.origin ? { 'x-origin-service': marks.origin.service } : {}

/** If all operations are hidden from the caller, it can call none, not even by guessing a name. */
function assertVisibleOperation({ id, operations }: AgentRecord, seen: AgentRecord): void {
  if (seen.operations.length > 0 || operations.every(({ name }) => name === IMPLIED_OPERATION)) return
  throw new DirectoryError('not_found', `the agent "${id}" has no operation that you may call`)
}

/** Versions that an error message lists. */
const VERSIONS_LISTED = 20

/** The latest version, or the one that the caller requests (AURI §7, C-63). */
function chooseVersion({ id, document, version: latest }: AgentRecord, places: Places): ChosenVersion {
  const requested = agreeOnVersion(Object.values(places))
  const chosen = selectVersion(document, requested)
  if (chosen) return { headers: versionHeaders(chosen.version), base: chosen.base }
  if (requested === undefined) return { headers: {}, base: undefined }
  const others = isObject(document.supportedVersions) ? Object.keys(document.supportedVersions) : []
  const known = [...(latest === undefined ? [] : [latest]), ...others].slice(0, VERSIONS_LISTED)
  const hint = known.length > 0 ? `it has ${known.join(', ')}` : 'it does not state its versions'
  throw new DirectoryError('not_found', `the agent "${id}" has no version "${requested}": ${hint}`)
}

const versionHeaders = (version: string): Record<string, string> =>
  /^[\x20-\x7e]{1,256}$/.test(version) ? { 'x-agent-version': version } : {}

/**
 * Rejects a delegation chain that is malformed, too long or circular (C-65). The agent verifies the signatures: the last
 * hop is addressed to it, and it decides which issuers to trust.
 */
function checkDelegation(chain: string | undefined): void {
  if (chain === undefined) return
  try {
    checkOrder(splitChain(chain).map(readHop))
  } catch (error) {
    if (!(error instanceof SigningError)) throw error
    throw new DirectoryError('forbidden', `X-Delegation-Chain is not accepted: ${error.message}`, { cause: error })
  }
}
