import {
  type AgentRecord,
  asObjects,
  asString,
  detectFormat,
  type Issue,
  type JsonObject,
  lintDescriptor,
  readRecord,
  validateDocument,
} from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { quoteVersions } from './quote-versions.js'
import { readObject } from './resolution.js'

/** An agent's description of itself: an agent.json, an A2A card, or a document of another draft. */
export interface Descriptor {
  /** Where it was found; the base of its relative URLs. */
  readonly url: string
  readonly document: JsonObject
  readonly record: AgentRecord
  /** Mistakes that do not prevent its use (C-25). */
  readonly warnings: readonly string[]
}

/** Members that decide where the agent is called: a wrong type is an error, not a warning. */
const DECISIVE = /^\/(version|url|endpoint|transport|supportedVersions)(\/|$)/

/** The minimum that AURI §7 requires. */
const MINIMUM = /^\/(name|version|capabilities)$/

/**
 * Reads a descriptor. Missing members are warnings (C-25), and so is a version written as a number (C-24).
 *
 * @throws {ClientError} `bad_document` if the text is not a JSON object, or if a member that decides where the agent is
 *   called has the wrong type
 */
export function parseDescriptor(text: string, url: string): Descriptor {
  const first = readObject(text, url)
  return hasNumberVersion(first)
    ? readDescriptor(readObject(quoteVersions(text), url), url, true)
    : readDescriptor(first, url)
}

/** The same for a parsed document. */
export function readDescriptor(document: JsonObject, url: string, wasNumber = false): Descriptor {
  const format = detectFormat(document) ?? 'descriptor'
  const issues = validateDocument(format, document)
  const wrong = issues.filter(({ at }) => DECISIVE.test(at) && isThere(document, at))
  if (wrong.length > 0) throw new ClientError('bad_document', `${url}: ${wrong.map(sentence).join('; ')}`, { url })
  const lacks = lintDescriptor(document).warnings.filter(({ at }) => MINIMUM.test(at))
  const warnings = new Map([...issues, ...lacks].map((issue) => [issue.at, `${url}: ${sentence(issue)}`]))
  if (wasNumber) warnings.set('/version', `${url}: /version is a number and should be a string: quote it`)
  const record = readRecord(format, document, asString(document.id) || asString(document.name) || url)
  return { url, document, record, warnings: [...warnings.values()] }
}

const sentence = ({ at, message }: Issue): string => `${at || 'the document'} ${message}`

const isThere = (document: JsonObject, at: string): boolean => Object.hasOwn(document, at.split('/')[1] ?? '')

const hasNumberVersion = (document: JsonObject): boolean =>
  [document, ...asObjects(document.capabilities)].some(({ version }) => typeof version === 'number')

/**
 * Whether a JSON object describes an agent. Some hosts respond to unknown paths with other objects, which must not count
 * as agents without capabilities.
 */
export function isDescriptor(document: JsonObject): boolean {
  const isNamed = typeof document.name === 'string' && typeof document.url === 'string'
  return isNamed || TYPICAL_MEMBERS.some((name) => document[name] !== undefined)
}

const TYPICAL_MEMBERS = [
  'capabilities',
  'skills',
  'endpoint',
  'transport',
  'supportedInterfaces',
  'bindings',
  'operations',
  'base',
]
