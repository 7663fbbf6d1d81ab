import type { Issue } from './errors.js'
import { isObject, type JsonObject, type JsonValue, pointerToken } from './json.js'
import { APPLICATORS, type Application, NAMED } from './schema-keywords.js'

/** A subschema and those that applying it leads to. */
export interface SchemaNode {
  readonly schema: JsonObject
  /** JSON pointer from the root. */
  readonly at: string
  readonly edges: SchemaEdge[]
  /** What its `$ref` stands for. */
  target?: JsonValue
}

export interface SchemaEdge {
  readonly to: SchemaNode
  readonly by: 'ref' | Exclude<Application, 'never'>
}

export type SchemaGraph = ReadonlyMap<JsonObject, SchemaNode>

/** Why a publisher's schema is not used; caught where it becomes an issue. */
export class SchemaRefused extends Error {
  readonly issue: Issue

  constructor(at: string, message: string) {
    super(message)
    this.issue = { at, message }
  }
}

/**
 * Every subschema once, with references resolved. They stay inside the document: nothing is fetched.
 *
 * @param admit throws if what a reference leads to, outside of the places where schemas stand, is none
 */
export function readSchemaGraph(root: JsonObject, admit: (schema: JsonObject, at: string) => void): SchemaGraph {
  const nodes = new Map<JsonObject, SchemaNode>()
  const references: { node: SchemaNode; base: JsonObject }[] = []

  /** A schema with an `$id` is what the pointers inside it start from. */
  const walk = (schema: JsonObject, at: string, outerBase: JsonObject): SchemaNode => {
    const known = nodes.get(schema)
    if (known) return known
    const base = baseOf(schema, outerBase)
    const node: SchemaNode = { schema, at, edges: [] }
    nodes.set(schema, node)
    for (const [name, value] of Object.entries(schema)) {
      if (name === '$dynamicRef' || name === '$recursiveRef') {
        throw new SchemaRefused(`${at}/${name}`, 'is not supported: use $ref')
      }
      if (name === '$ref') references.push({ node, base })
      const applies = APPLICATORS.get(name)
      if (applies === undefined) continue
      for (const [place, part] of subschemas(name, value, `${at}/${name}`)) {
        const to = walk(part, place, base)
        if (applies !== 'never') node.edges.push({ to, by: applies })
      }
    }
    return node
  }

  walk(root, '', root)
  // The list grows while it is read, by references inside of what references lead to.
  for (const { node, base } of references) {
    const { value, at, base: targetBase } = resolve(base, node)
    node.target = value
    if (!isObject(value)) continue
    if (!nodes.has(value)) admit(value, at)
    node.edges.push({ to: walk(value, at, targetBase), by: 'ref' })
  }
  return nodes
}

const baseOf = (schema: JsonObject, outer: JsonObject): JsonObject => (typeof schema.$id === 'string' ? schema : outer)

function* subschemas(keyword: string, value: JsonValue, at: string): Generator<[string, JsonObject]> {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) if (isObject(item)) yield [`${at}/${i}`, item]
  } else if (isObject(value) && NAMED.has(keyword)) {
    for (const [name, item] of Object.entries(value)) if (isObject(item)) yield [`${at}/${pointerToken(name)}`, item]
  } else if (isObject(value)) yield [at, value]
}

function resolve(base: JsonObject, { schema, at }: SchemaNode): { value: JsonValue; at: string; base: JsonObject } {
  const ref = schema.$ref
  if (typeof ref !== 'string' || !ref.startsWith('#')) {
    throw new SchemaRefused(`${at}/$ref`, 'must stay inside the schema: only "#/…" is allowed, nothing is fetched')
  }
  const tokens = ref === '#' ? [] : ref.slice(2).split('/')
  let value: JsonValue | undefined = ref === '#' || ref.startsWith('#/') ? base : undefined
  let within = base
  for (const token of tokens) {
    value = value === undefined ? undefined : memberOf(value, unescapeToken(token))
    if (isObject(value)) within = baseOf(value, within)
  }
  if (!isObject(value) && typeof value !== 'boolean') {
    throw new SchemaRefused(`${at}/$ref`, `points at no schema: ${ref}`)
  }
  return { value, at: ref.slice(1), base: within }
}

function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function unescapeToken(token: string): string {
  let text = token
  try {
    text = decodeURIComponent(token)
  } catch {
    // A stray "%" stands for itself.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}
