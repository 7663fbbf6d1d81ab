import type { JsonObject } from '../json.js'
import type { Authentication } from './authentication.js'
import { withLearned } from './learned.js'
import { keepText } from './original-text.js'
import { readRecord } from './read.js'
import type {
  AgentRecord,
  Binding,
  Capability,
  DocumentFormat,
  Example,
  LearnedOperations,
  Operation,
  Visibility,
} from './record.js'
import { makeRedaction } from './redact.js'

/** Characters that a parsed record counts for besides those of its document. */
const RECORD_LENGTH = 500

/**
 * A record that keeps its document as text, and the members that most requests need. The others are parsed when they are read,
 * and dropped when other records are read. The object stays the same, so records can be compared by identity.
 */
export class KeptRecord implements AgentRecord {
  readonly id: string
  readonly format: DocumentFormat
  readonly name: string
  readonly status: string
  readonly visibility: Visibility
  readonly redacted: boolean
  readonly expiresAt?: number | undefined
  readonly learned?: LearnedOperations | undefined
  readonly redaction: AgentRecord
  /** The JSON text of the document that this record is read from, also if it shows only a part of that. */
  readonly text: string
  /** Makes the record from another one; undefined: it is read from the text. */
  readonly #derive: (() => AgentRecord) | undefined
  readonly #cache: ParsedRecords
  #parsed: AgentRecord | undefined
  #isUsed = false
  #droppedAt: number | undefined

  constructor(cache: ParsedRecords, text: string, parsed: AgentRecord, derive?: () => AgentRecord) {
    this.id = parsed.id
    this.format = parsed.format
    this.name = parsed.name
    this.status = parsed.status
    this.visibility = parsed.visibility
    this.redacted = parsed.redacted
    this.expiresAt = parsed.expiresAt
    this.learned = parsed.learned
    this.text = text
    this.#derive = derive
    this.#cache = cache
    const redaction = makeRedaction(parsed)
    this.redaction =
      redaction === parsed ? this : new KeptRecord(cache, text, redaction, () => makeRedaction(this.parsed))
    this.#parsed = parsed
    cache.add(this)
  }

  /** The record as a plain object; parsed again if it was dropped. */
  get parsed(): AgentRecord {
    this.#isUsed = true
    return this.#parsed ?? this.#parse()
  }

  #parse(): AgentRecord {
    const parsed = this.#derive ? this.#derive() : this.#read()
    this.#parsed = parsed
    this.#cache.add(this, this.#droppedAt)
    return parsed
  }

  #read(): AgentRecord {
    const document: JsonObject = JSON.parse(this.text)
    keepText(document, () => this.text)
    return readRecord(this.format, document, this.id, this.redacted)
  }

  /** Drops what is parsed. */
  drop(): boolean {
    this.#parsed = undefined
    this.#droppedAt = this.#cache.dropped
    return true
  }

  /** Drops what is parsed, unless it has been read since the last call. */
  dropUnused(): boolean {
    if (!this.#isUsed) return this.drop()
    this.#isUsed = false
    return false
  }

  get document(): JsonObject {
    return this.parsed.document
  }
  get description(): string {
    return this.parsed.description
  }
  get version(): string | undefined {
    return this.parsed.version
  }
  get publisher(): string | undefined {
    return this.parsed.publisher
  }
  get tags(): readonly string[] {
    return this.parsed.tags
  }
  get capabilities(): readonly Capability[] {
    return this.parsed.capabilities
  }
  get operations(): readonly Operation[] {
    return this.parsed.operations
  }
  get examples(): readonly Example[] {
    return this.parsed.examples
  }
  get bindings(): readonly Binding[] {
    return this.parsed.bindings
  }
  get protocols(): readonly string[] {
    return this.parsed.protocols
  }
  get languages(): readonly string[] | undefined {
    return this.parsed.languages
  }
  get authentication(): Authentication | undefined {
    return this.parsed.authentication
  }
  get constraints(): JsonObject | undefined {
    return this.parsed.constraints
  }
  get identity(): string | undefined {
    return this.parsed.identity
  }
  get identityType(): string | undefined {
    return this.parsed.identityType
  }
  get signature(): JsonObject | undefined {
    return this.parsed.signature
  }
  get sequence(): number | undefined {
    return this.parsed.sequence
  }
  get updatedAt(): string | undefined {
    return this.parsed.updatedAt
  }
}

/** Share of the characters for records that were read only once lately, such as by something that goes through all of them. */
const RECENT_SHARE = 1 / 64

/**
 * The records that are parsed at the moment, of bounded size. A record first stays for a short time. If it is read again soon
 * after that, it stays longer: until it was not read while all others that stay were dropped or read. So going through very many
 * records displaces few, and garbage collection is cheap because theirs die young.
 */
export class ParsedRecords {
  readonly #recent: RecordQueue
  readonly #frequent: RecordQueue

  /** @param maxLength characters of the documents together; parsed, they take three to ten times as many bytes */
  constructor(maxLength: number) {
    this.#recent = new RecordQueue(maxLength * RECENT_SHARE)
    this.#frequent = new RecordQueue(maxLength * (1 - RECENT_SHARE))
  }

  /** Characters of the documents that are parsed. */
  get length(): number {
    return this.#recent.length + this.#frequent.length
  }

  /** Characters of documents dropped from the recent ones: a clock that tells how long ago a record was dropped. */
  get dropped(): number {
    return this.#recent.dropped
  }

  /** Keeps the text of a record that has just been read from it. */
  keep(text: string, record: AgentRecord): KeptRecord {
    return new KeptRecord(this, text, record)
  }

  /** A kept record together with what the agent itself lists. */
  keepLearned(published: KeptRecord, learned: LearnedOperations): KeptRecord {
    const derive = (): AgentRecord => withLearned(published.parsed, learned)
    return new KeptRecord(this, published.text, derive(), derive)
  }

  /**
   * To be called by a record that has been parsed.
   *
   * @param droppedAt `dropped` when it was dropped
   */
  add(record: KeptRecord, droppedAt = Number.NEGATIVE_INFINITY): void {
    const isFrequent = this.dropped - droppedAt < this.#frequent.maxLength / 8
    if (isFrequent) this.#frequent.add(record, (oldest) => oldest.dropUnused())
    else this.#recent.add(record, (oldest) => oldest.drop())
  }
}

/** Parsed records, oldest first. */
class RecordQueue {
  readonly maxLength: number
  length = 0
  dropped = 0
  #records: KeptRecord[] = []
  #first = 0

  constructor(maxLength: number) {
    this.maxLength = maxLength
  }

  /** @param drop returns false if the record stays: then it becomes the newest */
  add(record: KeptRecord, drop: (oldest: KeptRecord) => boolean): void {
    this.length += lengthOf(record)
    this.#records.push(record)
    while (this.length > this.maxLength && this.#records.length - this.#first > 1) this.#rotate(drop)
  }

  #rotate(drop: (oldest: KeptRecord) => boolean): void {
    const oldest = this.#records[this.#first++]
    if (this.#first > this.#records.length / 2) {
      this.#records = this.#records.slice(this.#first)
      this.#first = 0
    }
    if (!oldest) return
    if (!drop(oldest)) {
      this.#records.push(oldest)
      return
    }
    this.length -= lengthOf(oldest)
    this.dropped += lengthOf(oldest)
  }
}

const lengthOf = ({ text }: KeptRecord): number => text.length + RECORD_LENGTH
