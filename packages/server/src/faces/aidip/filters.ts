import { type Issue, invalid, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { AVAILABLE, type Condition } from '../../services/find.js'

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

/**
 * The hard conditions that AIDIP filters stand for. All of them bind; every value of capabilities, tags and languages
 * must be had (C-15); a member that has no meaning of its own is compared with the document's (C-50).
 */
export function toConditions(filters: JsonObject, at = '/filters/'): Condition[] {
  const issues: Issue[] = []
  const conditions = Object.entries(filters).flatMap(([name, value]) => {
    const meaning = SYNONYMS.get(name)
    if (meaning === undefined) {
      if (value === null) issues.push({ at: at + name, message: 'must not be null' })
      return [{ kind: 'member', name, value } satisfies Condition]
    }
    const words = toWords(value)
    if (!words) issues.push({ at: at + name, message: 'must be a string or an array of strings' })
    return toCondition(meaning, words ?? [])
  })
  if (issues.length > 0) throw invalid(issues)
  const asksForStatus = Object.keys(filters).some((name) => SYNONYMS.get(name) === 'status')
  return asksForStatus ? conditions : [...conditions, AVAILABLE]
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

function toWords(value: JsonValue): string[] | undefined {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return undefined
  const words = value.filter((item) => typeof item === 'string')
  return words.length === value.length ? words : undefined
}

/** Parameters of GET /agents that are no filters. */
const NOT_FILTERS = new Set(['top', 'skip', 'shape', 'q', 'query', 'ranked', 'include_metadata'])

/** Query parameters as filters: lists by commas or by repetition (C-14). */
export function filtersOfQuery(params: URLSearchParams): JsonObject {
  const filters: JsonObject = {}
  for (const name of new Set(params.keys())) {
    if (NOT_FILTERS.has(name) || name === '__proto__') continue
    const values = params.getAll(name)
    if (SYNONYMS.get(name) !== undefined)
      filters[name] = values.flatMap((text) => text.split(',')).filter((word) => word !== '')
    else filters[name] = values.length === 1 ? (values[0] ?? '') : values
  }
  return filters
}
