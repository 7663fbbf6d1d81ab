import { aidipSchema, type Issue, invalid, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { Condition } from '@switchboard/search'
import { assertFilterLimits } from '../../policy/filter-limits.js'
import { AVAILABLE } from '../../services/discovery/find.js'

type FilterKind = 'capability' | 'tag' | 'language' | 'publisher' | 'authentication' | 'status'

/** Filters by name; the drafts have several names for each (C-12, C-13, C-14). */
const FILTER_KINDS = new Map<string, FilterKind>([
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

/** Members that are strings by the draft's schema: a filter of another type could never match. */
const TEXT_MEMBERS = new Set(
  Object.entries(isObject(aidipSchema.properties) ? aidipSchema.properties : {}).flatMap(([name, schema]) =>
    isObject(schema) && schema.type === 'string' ? [name] : [],
  ),
)

/**
 * Converts AIDIP filters to conditions, all of which must hold. An agent must have every requested capability, tag and
 * language (C-15). A filter that is not in `FILTER_KINDS` is compared with the document's member of that name (C-50).
 * Query parameters are compared as text.
 */
export function toConditions(filters: JsonObject, from: 'body' | 'query'): Condition[] {
  const at = from === 'query' ? '?' : '/filters/'
  assertFilterLimits(filters, at)
  const issues: Issue[] = []
  const conditions = Object.entries(filters).flatMap(([name, value]) => {
    const kind = FILTER_KINDS.get(name)
    if (kind === undefined) {
      if (value === null) issues.push({ at: at + name, message: 'must not be null' })
      else if (TEXT_MEMBERS.has(name) && !toStrings(value)) issues.push({ at: at + name, message: NOT_STRINGS })
      return [{ kind: 'member', name, value, asText: from === 'query' } satisfies Condition]
    }
    const values = toStrings(value)
    if (!values) issues.push({ at: at + name, message: NOT_STRINGS })
    return [toCondition(kind, values ?? [])]
  })
  if (issues.length > 0) throw invalid(issues)
  // A filter on status or id also finds agents that are not available (C-21).
  const includesUnavailable = ['status', 'id'].some((name) => Object.hasOwn(filters, name))
  return includesUnavailable ? conditions : [...conditions, AVAILABLE]
}

function toCondition(kind: FilterKind, values: string[]): Condition {
  switch (kind) {
    case 'capability':
    case 'tag':
    case 'language':
      return { kind, all: values }
    default:
      return { kind, anyOf: values }
  }
}

const NOT_STRINGS = 'must be a string or an array of strings'

function toStrings(value: JsonValue): string[] | undefined {
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) return undefined
  const strings = value.filter((item) => typeof item === 'string')
  return strings.length === value.length ? strings : undefined
}

/** Parameters of GET /agents that are not filters. */
const NOT_FILTERS = new Set(['top', 'skip', 'shape', 'q', 'query', 'ranked', 'include_metadata'])

/** Query parameters as filters. Lists are separated by commas or repeated (C-14); a publisher's name may contain commas. */
export function filtersOfQuery(params: URLSearchParams): JsonObject {
  const filters: JsonObject = {}
  for (const name of new Set(params.keys())) {
    if (NOT_FILTERS.has(name)) continue
    if (name === '__proto__') throw invalid([{ at: `?${name}`, message: 'is not allowed as a member name' }])
    const values = params.getAll(name)
    const kind = FILTER_KINDS.get(name)
    if (kind === undefined) filters[name] = values.length === 1 ? (values[0] ?? '') : values
    else filters[name] = values.flatMap((text) => (kind === 'publisher' ? text : text.split(','))).filter(isNotEmpty)
  }
  return filters
}

const isNotEmpty = (text: string): boolean => text !== ''
