import type { DocumentFormat, JsonObject, KeptRecord } from '@switchboard/protocol'
import type { Lease, Marks, StoredAgent } from '../../store/store.js'

/** A row of the store as it stays in memory: its document is parsed when it is read. */
export class AgentRow implements StoredAgent {
  readonly id: string
  readonly number: number
  readonly owner: string
  readonly format: DocumentFormat
  readonly revision: number
  readonly createdAt: number
  readonly modifiedAt: number
  readonly receivedAt: number
  readonly lease?: Lease
  readonly marks: Marks
  readonly #published: KeptRecord

  constructor(stored: StoredAgent, published: KeptRecord) {
    this.id = published.id
    this.number = stored.number
    this.owner = stored.owner
    this.format = stored.format
    this.revision = stored.revision
    this.createdAt = stored.createdAt
    this.modifiedAt = stored.modifiedAt
    this.receivedAt = stored.receivedAt
    if (stored.lease) this.lease = stored.lease
    this.marks = stored.marks
    this.#published = published
  }

  get document(): JsonObject {
    return this.#published.document
  }

  get text(): string {
    return this.#published.text
  }
}
