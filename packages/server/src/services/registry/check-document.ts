import { type AgentRecord, invalid, isObject, lintExamples, lintRecord } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import { assertClaims, assertEndpoints } from '../../policy/vetting.js'
import type { SignatureFinding } from '../../store/store.js'
import type { Context } from '../context.js'

/** A document that may be registered, and what was found out about it. */
export interface Checked {
  readonly record: AgentRecord
  readonly signature: SignatureFinding | undefined
  readonly warnings: readonly string[]
}

/**
 * Checks a document that is to be registered: endpoints, claims, expiry, examples and signature. Throws if it is not
 * acceptable, and collects warnings otherwise.
 */
export async function checkDocument(context: Context, record: AgentRecord, caller: Caller): Promise<Checked> {
  const warnings = checkContent(context, record, caller)
  const signature = await context.verifySignature(record)
  if (!signature || signature.state === 'valid') return { record, signature, warnings }
  const at = isObject(record.document.signature) ? '/signature' : '/signatures'
  const message =
    signature.state === 'invalid' ? `is not valid: ${signature.reason}` : `cannot be verified: ${signature.reason}`
  if (signature.state === 'invalid' && context.policy.strictSignatures) throw invalid([{ at, message }])
  return { record, signature, warnings: [...warnings, `${at} ${message}`] }
}

/** The checks that need nobody else. */
export function checkContent(context: Context, record: AgentRecord, caller: Caller): string[] {
  assertEndpoints(record, context.policy, context.production)
  assertClaims(record, caller, context.policy)
  if (record.expiresAt !== undefined && record.expiresAt <= context.now()) {
    throw invalid([{ at: '/expires_at', message: 'is in the past: send a later time, or omit it' }])
  }
  const mismatches = lintExamples(record, context.schemas)
  if (context.policy.strictExamples && mismatches.length > 0) {
    throw invalid(
      mismatches.map((text) => ({ at: text.split(' ')[0] ?? '', message: text.slice(text.indexOf(' ') + 1) })),
    )
  }
  return [...lintRecord(record, { isDeclaredTag: context.taxonomy.declares }), ...mismatches]
}
