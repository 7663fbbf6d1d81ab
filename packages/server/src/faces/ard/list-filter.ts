import { invalid, parseTimestamp } from '@switchboard/protocol'
import type { Condition } from '@switchboard/search'
import type { Context } from '../../services/context.js'
import { hasAny } from './ard-query.js'

/** Characters and clauses of a filter expression. */
const MAX_LENGTH = 2000
const MAX_CLAUSES = 10

/** One clause: a field, `=` or `>`, and a value in quotes or without spaces. */
const CLAUSE = /^\s*(\w+)\s*(=|>)\s*(?:'([^']*)'|"([^"]*)"|([^\s'"]+))/
const AND = /^\s+AND(?=\s)/i

/** What a field compares, by its name (ARD 0.91, appendix A). */
type ToCondition = (value: string, context: Context) => Condition

/** Values are separated by commas. */
const listOf = (text: string): string[] => text.split(',').map((value) => value.trim())

const FIELDS = new Map<string, ToCondition>([
  [
    'displayName',
    (value) => {
      const wanted = value.toLowerCase()
      return { kind: 'test', holds: ({ name, id }) => (name || id).toLowerCase().includes(wanted) }
    },
  ],
  ['type', (value, context) => hasAny(context, 'type', listOf(value))],
  ['publisherId', (value, context) => hasAny(context, 'publisher', listOf(value))],
  ['createdAfter', (value, { catalog }) => after(value, (id) => catalog.get(id)?.stored.createdAt)],
  ['updatedAfter', (value, { catalog }) => after(value, (id) => catalog.get(id)?.stored.modifiedAt)],
])

/** Reads a filter expression such as `type = 'application/a2a-agent-card+json' AND updatedAfter > '2026-01-01'`. */
export function readListFilter(context: Context, text: string): Condition[] {
  const problem = (message: string): Error => invalid([{ at: '?filter', message }])
  if (text.length > MAX_LENGTH) throw problem(`must not be longer than ${MAX_LENGTH} characters`)
  const conditions: Condition[] = []
  for (let rest = text; ; ) {
    const [all, field = '', operator, single, double, bare] = CLAUSE.exec(rest) ?? []
    if (all === undefined) throw problem(`must be clauses such as "type = 'application/a2a-agent-card+json'" with AND`)
    const toCondition = FIELDS.get(field)
    if (!toCondition) throw problem(`has the field "${field}": use ${[...FIELDS.keys()].join(', ')}`)
    if (operator === '>' && !field.endsWith('After')) throw problem(`compares ${field} with ">": use "="`)
    if (conditions.length >= MAX_CLAUSES) throw problem(`must not have more than ${MAX_CLAUSES} clauses`)
    conditions.push(toCondition(single ?? double ?? bare ?? '', context))
    rest = rest.slice(all.length)
    if (rest.trim() === '') return conditions
    const [and] = AND.exec(rest) ?? []
    if (and === undefined) throw problem('must have AND between its clauses')
    rest = rest.slice(and.length)
  }
}

function after(text: string, timeOf: (id: string) => number | undefined): Condition {
  const since = parseTimestamp(text) ?? parseTimestamp(`${text}T00:00:00Z`)
  if (since === undefined)
    throw invalid([
      { at: '?filter', message: `has the time "${text.slice(0, 40)}": write it as 2026-01-01 or 2026-01-01T00:00:00Z` },
    ])
  return { kind: 'test', holds: ({ id }) => (timeOf(id) ?? 0) > since }
}
