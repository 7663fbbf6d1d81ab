import { aidipSchema, type Issue, invalid, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { AVAILABLE, type Condition } from '../../services/discovery/find.js'

type Meaning = 'capability' | 'tag' | 'language' | 'publisher' | 'authentication' | 'status'

/** Names of filters that mean the same (C-12, C-13, C-14). */
const SYNONYMS = new Map<string, Meaning>([
  ['capability', 'capability'],
  ['capabilities', 'capability'],
  ['tag', 'tag'],
  ['tags', 'tag'],
  ['language', 'language'],
  ['supported_language', 'language'],
  ['supported_languages', 'language'],
  ['publisher', 'publisher'],
  ['provider', 'publisher'],
  ['vendor', 'publisher'],
  ['authentication', 'authentication'],
  ['status', 'status'],
])

/** Members that the draft says are text: a filter of another type could never hold. */
const TEXT_MEMBERS = new Set(
  Object.entries(isObject(aidipSchema.properties) ? aidipSchema.properties : {}).flatMap(([name, schema]) =>
    isObject(schema) && schema.type === 'string' ? [name] : [],
  ),
)

/**
 * The hard conditions that AIDIP filters stand for. All of them bind; every value of capabilities, tags and languages
 * must be had (C-15); a member that has no meaning of its own is compared with the document's (C-50). Those of a query
 * are text, whatever the member is.
 */
export function toConditions(filters: JsonObject, from: 'body' | 'query'): Condition[] {
  const at = from === 'query' ? '?' : '/filters/'
  const issues: Issue[] = []
  const conditions = Object.entries(filters).flatMap(([name, value]) => {
    const meaning = SYNONYMS.get(name)
    if (meaning === undefined) {
      if (value === null) issues.push({ at: at + name, message: 'must not be null' })
      else if (TEXT_MEMBERS.has(name) && !toWords(value)) issues.push({ at: at + name, message: NO_WORDS })
      return [{ kind: 'member', name, value, asText: from === 'query' } satisfies Condition]
    }
    const words = toWords(value)
    if (!words) issues.push({ at: at + name, message: NO_WORDS })
    return toCondition(meaning, words ?? [])
  })
  if (issues.length > 0) throw invalid(issues)
  // Whoever asks for a status, or for one agent by its id, gets what is not available too (C-21).
  const asksForAny = ['status', 'id'].some((name) => Object.hasOwn(filters, name))
  return asksForAny ? conditions : [...conditions, AVAILABLE]
}

function toCondition(meaning: Meaning, words: string[]): Condition[] {
  switch (meaning) {
    case 'capability':
    case 'tag':
      return words.map((value) => ({ kind: meaning, value }))
    case 'language':
      return words.map((range) => ({ kind: 'language', range }))
    default:
      return [{ kind: meaning, anyOf: words }]
  }
}

const NO_WORDS = 'must be a string or an array of strings'

function toWords(value: JsonValue): string[] | undefined {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return undefined
  const words = value.filter((item) => typeof item === 'string')
  return words.length === value.length ? words : undefined
}

/** Parameters of GET /agents that are no filters. */
const NOT_FILTERS = new Set(['top', 'skip', 'shape', 'q', 'query', 'ranked', 'include_metadata'])

/** Query parameters as filters: lists by commas or by repetition (C-14); names of companies have commas of their own. */
export function filtersOfQuery(params: URLSearchParams): JsonObject {
  const filters: JsonObject = {}
  for (const name of new Set(params.keys())) {
    if (NOT_FILTERS.has(name)) continue
    if (name === '__proto__') throw invalid([{ at: `?${name}`, message: 'is no name of a member' }])
    const values = params.getAll(name)
    const meaning = SYNONYMS.get(name)
    if (meaning === undefined) filters[name] = values.length === 1 ? (values[0] ?? '') : values
    else filters[name] = values.flatMap((text) => (meaning === 'publisher' ? text : text.split(','))).filter(isNotEmpty)
  }
  return filters
}

const isNotEmpty = (word: string): boolean => word !== ''
