import { DirectoryError, isObject, type JsonObject, type JsonValue, parseJson } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import type { Deadline } from '../transports/deadline.js'
import { type AddressPolicy, checkAddress } from './address-policy.js'
import type { FetchDocument, FoundDocument } from './fetch-document.js'

/** Requests of one resolution; a chain of documents that needs more is a trap. */
const MAX_REQUESTS = 32

/** Warnings of one resolution; hostile documents could earn thousands. */
const MAX_WARNINGS = 50

/** An index names many agents, and each name costs a line. */
const INDEX_FACTOR = 8

/** One resolution under way: what it has asked so far, what was odd, and what it may still do. */
export interface Inquiry {
  readonly policy: AddressPolicy
  readonly deadline: Deadline
  readonly asked: readonly string[]
  readonly warnings: readonly string[]
  warn(sentence: string): void
  /** The text at a URL; undefined, and a warning if that is odd, where there is none. */
  ask(url: string, kind?: 'index'): Promise<FoundDocument | undefined>
  /** The same, read as a JSON object. */
  askObject(url: string, kind?: 'index'): Promise<{ url: string; document: JsonObject } | undefined>
}

export interface InquiryParts {
  readonly fetchDocument: FetchDocument
  readonly policy: AddressPolicy
  readonly deadline: Deadline
  readonly maxDocumentBytes: number
}

export function createInquiry({ fetchDocument, policy, deadline, maxDocumentBytes }: InquiryParts): Inquiry {
  const asked: string[] = []
  const warnings: string[] = []

  const warn = (sentence: string): void => {
    if (warnings.length < MAX_WARNINGS) warnings.push(sentence)
  }

  const ask = async (url: string, kind?: 'index'): Promise<FoundDocument | undefined> => {
    if (asked.length >= MAX_REQUESTS) {
      throw new ClientError('bad_document', `one URI leads to more than ${MAX_REQUESTS} requests`, { url })
    }
    const maxBytes = kind === 'index' ? maxDocumentBytes * INDEX_FACTOR : maxDocumentBytes
    asked.push(checkAddress(url, policy).href)
    const found = await fetchDocument(url, { deadline, maxBytes, policy })
    if (found.text !== undefined) return found
    if (found.reason !== undefined) warn(found.reason)
    return undefined
  }

  return {
    policy,
    deadline,
    asked,
    warnings,
    warn,
    ask,
    async askObject(url, kind) {
      const found = await ask(url, kind)
      return found && { url: found.url, document: readObject(found.text, found.url) }
    },
  }
}

/** The JSON object of a text, or a `bad_document` that says where it came from. */
export function readObject(text: string, url: string): JsonObject {
  const value = readJson(text, url)
  if (isObject(value)) return value
  throw new ClientError('bad_document', `${url} is not a JSON object`, { url })
}

function readJson(text: string, url: string): JsonValue {
  try {
    return parseJson(text)
  } catch (cause) {
    if (!(cause instanceof DirectoryError)) throw cause
    throw new ClientError('bad_document', `${url}: ${cause.message}`, { url, cause })
  }
}
