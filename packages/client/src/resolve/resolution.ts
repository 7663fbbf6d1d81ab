import { DirectoryError, isObject, type JsonObject, type JsonValue, parseJson } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import type { Deadline } from '../transports/deadline.js'
import { type AddressPolicy, checkAddress } from './address-policy.js'
import type { FetchDocument, FoundDocument } from './fetch-document.js'

/** Limit on the requests of one resolution, against documents that link to each other without end. */
const MAX_REQUESTS = 32

/** Limit on the warnings of one resolution, against hostile documents. */
const MAX_WARNINGS = 50

/** An index of agents may be this many times as long as another document. */
const INDEX_FACTOR = 8

/** A resolution in progress: its limits, its requests so far and their warnings. */
export interface Resolution {
  readonly policy: AddressPolicy
  readonly deadline: Deadline
  /** In order, including those served from the cache. */
  readonly requestedUrls: readonly string[]
  readonly warnings: readonly string[]
  warn(sentence: string): void
  /** The text at a URL; undefined if nothing is there, with a warning unless the response is a plain 404. */
  fetchText(url: string, kind?: 'index'): Promise<FoundDocument | undefined>
  /** The JSON object at a URL. */
  fetchObject(url: string, kind?: 'index'): Promise<{ url: string; document: JsonObject } | undefined>
}

export interface ResolutionDeps {
  readonly fetchDocument: FetchDocument
  readonly policy: AddressPolicy
  readonly deadline: Deadline
  readonly maxDocumentBytes: number
}

export function createResolution({ fetchDocument, policy, deadline, maxDocumentBytes }: ResolutionDeps): Resolution {
  const requestedUrls: string[] = []
  const warnings: string[] = []

  const warn = (sentence: string): void => {
    if (warnings.length < MAX_WARNINGS) warnings.push(sentence)
  }

  const fetchText = async (url: string, kind?: 'index'): Promise<FoundDocument | undefined> => {
    if (requestedUrls.length >= MAX_REQUESTS) {
      throw new ClientError('bad_document', `resolving the URI needs more than ${MAX_REQUESTS} requests`, { url })
    }
    const maxBytes = kind === 'index' ? maxDocumentBytes * INDEX_FACTOR : maxDocumentBytes
    requestedUrls.push(checkAddress(url, policy).href)
    const found = await fetchDocument(url, { deadline, maxBytes, policy })
    if (found.text !== undefined) return found
    if (found.reason !== undefined) warn(found.reason)
    return undefined
  }

  return {
    policy,
    deadline,
    requestedUrls,
    warnings,
    warn,
    fetchText,
    async fetchObject(url, kind) {
      const found = await fetchText(url, kind)
      return found && { url: found.url, document: readObject(found.text, found.url) }
    },
  }
}

/**
 * Parses a JSON object.
 *
 * @throws {ClientError} `bad_document`, with the URL of the text
 */
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
