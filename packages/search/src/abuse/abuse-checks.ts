import {
  type DocumentFormat,
  isObject,
  type JsonValue,
  type LearnedOperations,
  readRecord,
  redactRecord,
  withLearned,
} from '@switchboard/protocol'
import type { AbuseFinding } from './abuse-finding.js'
import { findAbuse } from './find-abuse.js'
import { createNearDuplicateDetector } from './near-duplicates.js'

/** An agent to check, as it can be sent to another thread: the text of a document is copied faster than a record. */
export interface CheckedAgent {
  readonly id: string
  readonly format: DocumentFormat
  /** JSON text. */
  readonly document: string
  /** Whether private parts of the document have been left out already. */
  readonly isRedacted: boolean
  readonly learned: LearnedOperations | undefined
  /** The account that registered the agent, not the publisher that the document claims. */
  readonly publisher: string
}

/** Finds abuse in agents, and floods of agents with nearly the same text. Only what everybody may see is checked. */
export interface AbuseChecks {
  /** Adds or replaces an agent. */
  check(number: number, agent: CheckedAgent): readonly AbuseFinding[]
  remove(number: number): void
}

/** Creates checks that know no agents. */
export function createAbuseChecks(): AbuseChecks {
  const duplicates = createNearDuplicateDetector()
  return {
    check(number, { id, format, document, isRedacted, learned, publisher }) {
      const value: JsonValue = JSON.parse(document)
      if (!isObject(value)) throw new TypeError('a document must be an object')
      const published = readRecord(format, value, id, isRedacted)
      const record = redactRecord(learned ? withLearned(published, learned) : published)
      duplicates.put(number, { record, publisher, isPublic: published.visibility !== 'private' })
      const findings = findAbuse(record)
      const flood = duplicates.findingOf(number)
      return flood ? [...findings, flood] : findings
    },
    remove: duplicates.remove,
  }
}
