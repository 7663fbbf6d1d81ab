import { hash } from 'node:crypto'
import type { JsonObject } from '@switchboard/protocol'
import type { SignatureFinding, StoredAgent } from '../../store/store.js'
import { waitForTurn } from '../../turns.js'
import type { Agent, Catalog, CatalogListener } from '../registry/catalog.js'
import type { CheckQueue } from './check-queue.js'
import type { SharedResults } from './shared-results.js'
import { hadNoKeys, type VerifySignature } from './verify-signature.js'

/** Verifies signatures again, because signers replace and revoke keys. The latest result is shown, with its date. */
export interface SignatureChecks extends Required<Pick<CatalogListener, 'changed' | 'findings'>> {
  /** Verifies those that are due; a replica that may not check reads what the other one has found out. */
  run(signal: AbortSignal): Promise<void>
}

export interface SignatureChecksOptions {
  readonly catalog: Pick<Catalog, 'byNumber' | 'get' | 'review'>
  readonly verify: VerifySignature
  readonly queue: CheckQueue
  readonly results: SharedResults
  readonly intervalMs: number
  /** From 0 to 1. */
  readonly random: () => number
}

/** Signatures that are verified in one run. */
const BATCH = 16

export function createSignatureChecks(options: SignatureChecksOptions): SignatureChecks {
  const { catalog, verify, queue, results, intervalMs, random } = options

  /** The last result of a later check, unless the agent has another signature since. */
  const laterFinding = (stored: StoredAgent): JsonObject | undefined => {
    const first = stored.marks.signature
    const { digest, ...finding } = (first && results.of(stored.id)) ?? {}
    if (!first || digest !== digestOf(stored)) return undefined
    return String(finding.checked_at) > first.checked_at ? finding : undefined
  }

  const check = async (agent: Agent): Promise<void> => {
    const before = laterFinding(agent.stored) ?? agent.stored.marks.signature
    const finding = await verify(agent.record)
    queue.add(agent.number, intervalMs)
    // That keys cannot be read at the moment does not undo an earlier result.
    if (!finding || (hadNoKeys(finding) && before?.state !== 'unverifiable')) return
    await results.save(agent.stored.id, { ...finding, digest: digestOf(agent.stored) })
    catalog.review(agent.number)
  }

  return {
    changed(agent, when, before) {
      if (!isChecked(agent.stored) || (before && digestOf(before.stored) === digestOf(agent.stored))) return
      // After a start, the checks are spread over the interval.
      queue.add(agent.number, when === 'later' ? intervalMs * random() : intervalMs)
    },
    findings(stored) {
      const signature = laterFinding(stored)
      return signature ? { signature } : {}
    },
    async run(signal) {
      const due = await queue.take(BATCH)
      if (!due) {
        for (const id of await results.news()) {
          const agent = catalog.get(id)
          if (agent) catalog.review(agent.number)
        }
        return
      }
      for (const number of due) {
        const agent = catalog.byNumber(number)
        if (signal.aborted) return
        if (!agent || !isChecked(agent.stored)) continue
        const turn = waitForTurn()
        if (turn) await turn
        await check(agent)
      }
    },
  }
}

/** A `did:key` is its key, which cannot change; the copy of another directory's agent is verified there. */
function isChecked({ marks: { signature, origin } }: StoredAgent): boolean {
  return signature !== undefined && origin === undefined && !isStatic(signature)
}

const isStatic = ({ state, by }: SignatureFinding): boolean => state === 'valid' && by?.startsWith('did:key:') === true

/** Tells a signature from that of another version of the document. */
const digestOf = ({ document: { signature, signatures } }: StoredAgent): string =>
  hash('sha256', JSON.stringify([signature, signatures]), 'base64url').slice(0, 16)
