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
import { readObject } from './inquiry.js'
import { quoteVersions } from './quote-versions.js'

/** An agent's own description: agent.json in the draft's form, an A2A card, or another draft's document. */
export interface Descriptor {
  /** Where it was found; what it says relatively is relative to this. */
  readonly url: string
  readonly document: JsonObject
  readonly record: AgentRecord
  /** What it lacks or has wrong and is read all the same (C-25). */
  readonly warnings: readonly string[]
}

/** Members that a reader acts on: of the wrong type they would be guessed around, so they are errors. */
const ACTED_ON = /^\/(version|url|endpoint|transport|supportedVersions)(\/|$)/

/** What AURI §7 wants at least. */
const MINIMUM = /^\/(name|version|capabilities)$/

/**
 * Reads a descriptor. What it should have and lacks is a warning (C-25), and so is a version written as a number (C-24).
 *
 * @throws {ClientError} `bad_document` if the text is no JSON object, or a member that decides where the agent is
 *   called has the wrong type
 */
export function parseDescriptor(text: string, url: string): Descriptor {
  const first = readObject(text, url)
  return hasNumberVersion(first)
    ? readDescriptor(readObject(quoteVersions(text), url), url, true)
    : readDescriptor(first, url)
}

/** The same for a document that is parsed already. */
export function readDescriptor(document: JsonObject, url: string, wasNumber = false): Descriptor {
  const format = detectFormat(document) ?? 'descriptor'
  const issues = validateDocument(format, document)
  const wrong = issues.filter(({ at }) => ACTED_ON.test(at) && isThere(document, at))
  if (wrong.length > 0) throw new ClientError('bad_document', `${url}: ${wrong.map(sentence).join('; ')}`, { url })
  const lacks = lintDescriptor(document).warnings.filter(({ at }) => MINIMUM.test(at))
  const warnings = new Map([...issues, ...lacks].map((issue) => [issue.at, `${url}: ${sentence(issue)}`]))
  if (wasNumber) warnings.set('/version', `${url}: /version is a number and was read as text: quote it`)
  const record = readRecord(format, document, asString(document.id) || asString(document.name) || url)
  return { url, document, record, warnings: [...warnings.values()] }
}

const sentence = ({ at, message }: Issue): string => `${at || 'the document'} ${message}`

const isThere = (document: JsonObject, at: string): boolean => Object.hasOwn(document, at.split('/')[1] ?? '')

const hasNumberVersion = (document: JsonObject): boolean =>
  [document, ...asObjects(document.capabilities)].some(({ version }) => typeof version === 'number')

/**
 * Whether a JSON object describes an agent at all. Hosts answer paths that they do not know with all kinds of objects,
 * and those must not pass for an agent without capabilities.
 */
export function isDescriptor(document: JsonObject): boolean {
  const isNamed = typeof document.name === 'string' && typeof document.url === 'string'
  return isNamed || SIGNS.some((name) => document[name] !== undefined)
}

const SIGNS = [
  'capabilities',
  'skills',
  'endpoint',
  'transport',
  'supportedInterfaces',
  'bindings',
  'operations',
  'base',
]
