import { randomUUID } from 'node:crypto'
import { type AgentRecord, DirectoryError, type JsonValue } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { ProbeResult } from '../../policy/probe.js'
import type { Invoke } from '../calls/invoke.js'
import { isMarked } from '../calls/request/choose-operation.js'
import { hasValidOutput } from '../calls/response/to-result.js'

/** An operation and an example of its input. */
export interface ProbeCase {
  readonly operation: string
  readonly input: JsonValue
}

/** Tries an operation; undefined if that says nothing about the agent, such as without a credential that it requires. */
export type ProbeOperation = (agent: string, probe: ProbeCase, signal: AbortSignal) => Promise<ProbeResult | undefined>

/** Operations of one agent that are tried. */
const MAX_OPERATIONS = 3
/** Characters of a reason. */
const MAX_REASON = 300

/**
 * What an agent may be tried with: examples of operations that change nothing when they are repeated, if the publisher
 * agrees with `"probes": true`.
 */
export function probeCases(record: AgentRecord): ProbeCase[] {
  if (record.document.probes !== true) return []
  const cases = record.operations.flatMap((operation): ProbeCase[] => {
    const isSafe = isMarked(record, operation, 'idempotent') || isMarked(record, operation, 'readOnly')
    const input = operation.examples?.find((example) => example.input !== undefined)?.input
    return isSafe && input !== undefined ? [{ operation: operation.name, input }] : []
  })
  return cases.slice(0, MAX_OPERATIONS)
}

/** Errors about the caller, not about the agent. */
const NOT_THE_AGENT: ReadonlySet<string> = new Set(['unauthorized', 'forbidden', 'not_invocable', 'rate_limited'])

/**
 * Calls operations as callers do, with the same checks of input and output.
 *
 * @param invoke without access to stored credentials: probes must not act in the operator's name
 */
export function createProbeOperation(invoke: Invoke, monotonic: () => number): ProbeOperation {
  return async (agent, { operation, input }, signal) => {
    const started = monotonic()
    const result = (reason?: string): ProbeResult => ({
      operation,
      passed: reason === undefined,
      ms: Math.round(monotonic() - started),
      ...(reason !== undefined && { reason: reason.slice(0, MAX_REASON) }),
    })
    try {
      const response = await invoke({
        agent,
        caller: prober(),
        operation,
        version: {},
        session: {},
        task: {},
        input: { kind: 'json', value: input },
        chooseMediaType: ([first]) => first,
        credentials: {
          directorySecret: undefined,
          apiKey: undefined,
          agentApiKey: undefined,
          agentAuthorization: undefined,
        },
        forwarded: {},
        idempotencyKey: undefined,
        defer: false,
        callbackUrl: undefined,
        spend: () => {},
        signal,
      })
      if (response.kind === 'bytes') response.body.destroy()
      return result(hasValidOutput(response) ? undefined : 'the output does not match its schema')
    } catch (error) {
      if (!(error instanceof DirectoryError)) throw error
      return NOT_THE_AGENT.has(error.code) ? undefined : result(error.message)
    }
  }
}

/** The directory itself, which may call every agent. */
const prober = (): Caller => ({
  subject: 'switchboard',
  kind: 'key',
  scopes: new Set(['admin']),
  address: '127.0.0.1',
  requestId: randomUUID(),
})
