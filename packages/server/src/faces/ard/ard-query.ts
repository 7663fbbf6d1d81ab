import {
  ARD_TERMS,
  type ArdTerm,
  ardTerm,
  ardValue,
  DirectoryError,
  invalid,
  isObject,
  type JsonObject,
  type JsonValue,
} from '@switchboard/protocol'
import type { Condition } from '@switchboard/search'
import { assertFilterLimits } from '../../policy/filter-limits.js'
import type { Context } from '../../services/context.js'
import { AVAILABLE } from '../../services/discovery/find.js'

const SCALARS = ['string', 'number', 'boolean'] as const

/** The `query` of ARD's requests (0.91 §5.3.1); checked further when it is read. */
export const querySchema: JsonObject = {
  type: 'object',
  properties: {
    '@context': {
      type: ['object', 'string', 'array'],
      description: 'binds the prefixes of filter keys, as in JSON-LD; contexts are never fetched',
    },
    text: { type: 'string', description: 'what you need, in natural language' },
    filter: {
      type: 'object',
      description:
        'values by term path, such as `type` or `trustManifest.attestations.type`: one value, or a list of alternatives',
      additionalProperties: {
        oneOf: [{ type: [...SCALARS] }, { type: 'array', minItems: 1, items: { type: [...SCALARS] } }],
      },
    },
  },
}

/** A `query` as the services take it. */
export interface ArdQuery {
  readonly text: string | undefined
  readonly conditions: readonly Condition[]
}

/** Reads a valid `query`; throws `invalid_request` for terms that entries do not have. */
export function readArdQuery(context: Context, query: JsonValue | undefined): ArdQuery {
  const { text, filter, '@context': prefixes } = isObject(query) ? query : {}
  return {
    // An empty text means no text.
    text: typeof text === 'string' && text.trim() !== '' ? text : undefined,
    conditions: [...toConditions(context, isObject(filter) ? filter : {}, prefixes), AVAILABLE],
  }
}

/** Each key must have one of its values (0.91 §5.3.1, Filter Semantics). */
function toConditions(context: Context, filter: JsonObject, prefixes: JsonValue | undefined): Condition[] {
  assertFilterLimits(filter, '/query/filter/')
  return Object.entries(filter).flatMap(([key, value]) => {
    const { path } = readTerm(key, prefixes, '/query/filter/')
    const values = [value].flat()
    const [only] = values
    // The index knows which agents have a tag, so that not all of them have to be compared.
    if (path === 'tags' && values.length === 1 && typeof only === 'string') return { kind: 'tag', all: [only] }
    return hasAny(context, path, values)
  })
}

/** The condition that entries have one of the values at a path, which `readTerm` has checked. */
export function hasAny(context: Context, path: string, values: readonly JsonValue[]): Condition {
  const term = ardTerm(path)
  const wanted = new Set(values.map((value) => ardValue(path, value)))
  return {
    kind: 'test',
    holds: (record) =>
      term?.(record, () => factsOf(context, record)).some((has) => wanted.has(ardValue(path, has))) === true,
  }
}

/** What the directory knows about the agent of a record; undefined if that is an agent of another directory. */
function factsOf({ catalog }: Context, record: Parameters<ArdTerm>[0]): ReturnType<Parameters<ArdTerm>[1]> {
  const agent = catalog.get(record.id)
  return agent && (agent.record === record || agent.shown === record) ? catalog.facts(agent) : undefined
}

/** A path of a request and the term that it names. */
export interface NamedTerm {
  readonly path: string
  readonly term: ArdTerm
}

/** @param at the JSON pointer of what contains the key */
export function readTerm(key: string, prefixes: JsonValue | undefined, at: string): NamedTerm {
  const path = resolveTerm(key, prefixes)
  const term = path === undefined ? undefined : ardTerm(path)
  if (path !== undefined && term) return { path, term }
  throw new DirectoryError(
    'invalid_request',
    `${at}${key} is not a term of the entries here: use ${ARD_TERMS.join(', ')}`,
    { issues: [{ at: at + key, message: 'is not a term of the entries here' }] },
  )
}

/** The namespace of ARD's terms (0.91 §4.1). */
const NAMESPACE = 'https://agenticresourcediscovery.org/ns#'

/**
 * The path in ARD's own terms that a key stands for, by the base context and the prefixes and terms that the query binds. Undefined if
 * it stands for a term of another namespace, which no entry here has.
 */
function resolveTerm(key: string, prefixes: JsonValue | undefined): string | undefined {
  const bindings = new Map(
    [prefixes ?? []]
      .flat()
      .flatMap((item) => (isObject(item) ? Object.entries(item) : []))
      .flatMap(([name, iri]): [string, string][] => (typeof iri === 'string' ? [[name, iri]] : [])),
  )
  const [, name = '', rest = ''] = /^([^.:]*)(.*)$/s.exec(key) ?? []
  const bound = bindings.get(name)
  const iri = key.startsWith(NAMESPACE)
    ? key
    : rest.startsWith(':')
      ? bound !== undefined && bound + rest.slice(1)
      : (bound ?? NAMESPACE + name) + rest
  return iri !== false && iri.startsWith(NAMESPACE) ? iri.slice(NAMESPACE.length) : undefined
}

/** The text of a search, which must have one (0.91 §5.3.2). */
export function requireText({ text }: ArdQuery): string {
  if (text === undefined) throw invalid([{ at: '/query/text', message: 'is required: say what you need' }])
  return text
}
