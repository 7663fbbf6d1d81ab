import type { Issue } from '../errors.js'
import { isObject, type JsonObject, type JsonValue, pointerToken } from '../json.js'
import { APPLICATORS, type Application, findMistake, isDraft7, NAMED } from './keywords.js'

/** Longer identifiers and references are not resolved: resolving them again and again would take quadratic time. */
const MAX_URI_LENGTH = 2000
/** The base of relative references in a schema without an absolute `$id`. */
const DEFAULT_BASE = 'https://schema.invalid/'

/** A subschema and the subschemas that applying it leads to. */
export interface SchemaNode {
  readonly schema: JsonObject
  /** The keywords that count: none that are null, and up to draft-07 none beside a `$ref`. */
  readonly keywords: JsonObject
  /** JSON pointer from the root. */
  readonly at: string
  readonly resource: SchemaResource
  readonly edges: SchemaEdge[]
  /** The schema that its `$ref` points to. */
  target?: JsonValue
}

export interface SchemaEdge {
  readonly to: SchemaNode
  readonly by: 'ref' | Exclude<Application, 'never'>
}

export type SchemaGraph = ReadonlyMap<JsonObject, SchemaNode>

/** The root schema, or a subschema with an `$id`: references inside it are relative to it. */
interface SchemaResource {
  readonly uri: string
  readonly root: JsonObject
  /** JSON pointer from the root of the document. */
  readonly at: string
  readonly anchors: Map<string, JsonObject>
}

/** A publisher's schema is rejected; turned into an issue where it is caught. */
export class SchemaRefused extends Error {
  readonly issue: Issue

  constructor(at: string, message: string) {
    super(message)
    this.issue = { at, message }
  }
}

/**
 * Collects every subschema once and resolves the references. They must lead to a place in the same document, by JSON
 * pointer, `$id` or `$anchor`: nothing is fetched.
 *
 * @throws {SchemaRefused} if a keyword has a value that JSON Schema does not allow, or a reference leads nowhere
 */
export function readSchemaGraph(document: JsonObject): SchemaGraph {
  const isOld = isDraft7(document)
  const hasOnlyRef = (schema: JsonObject): boolean => isOld && typeof schema.$ref === 'string'
  const nodes = new Map<JsonObject, SchemaNode>()
  const resources = new Map<string, SchemaResource>()
  const references: SchemaNode[] = []

  /** The resource that a schema belongs to; registers its identifiers. */
  const enter = (schema: JsonObject, at: string, outer: SchemaResource): SchemaResource => {
    const { $id, $anchor, $dynamicAnchor } = hasOnlyRef(schema) ? {} : schema
    let resource = outer
    if (typeof $id === 'string' && !$id.startsWith('#')) {
      const uri = resolveUri($id, outer.uri)?.uri
      resource = { uri: uri ?? outer.uri, root: schema, at, anchors: new Map() }
      if (uri !== undefined && !resources.has(uri)) resources.set(uri, resource)
    }
    // Draft-07 writes an anchor as `$id: "#name"`.
    const draft7Anchor = typeof $id === 'string' && $id.startsWith('#') ? $id.slice(1) : undefined
    for (const anchor of [$anchor, $dynamicAnchor, draft7Anchor]) {
      if (typeof anchor === 'string' && !resource.anchors.has(anchor)) resource.anchors.set(anchor, schema)
    }
    return resource
  }

  const walk = (schema: JsonObject, at: string, outer: SchemaResource): SchemaNode => {
    const known = nodes.get(schema)
    if (known) return known
    const keywords = withoutNulls(hasOnlyRef(schema) ? withoutSiblings(schema) : schema)
    const mistake = findMistake(keywords)
    if (mistake) throw new SchemaRefused(at + mistake.at, `is not valid JSON Schema: it ${mistake.expected}`)
    const node: SchemaNode = { schema, keywords, at, resource: enter(schema, at, outer), edges: [] }
    nodes.set(schema, node)
    for (const [name, value] of Object.entries(keywords)) {
      if (name === '$dynamicRef' || name === '$recursiveRef') {
        throw new SchemaRefused(`${at}/${name}`, 'is not supported: use $ref')
      }
      if (name === '$ref') references.push(node)
      const applies = APPLICATORS.get(name)
      if (applies === undefined) continue
      for (const [place, part] of subschemas(name, value, `${at}/${name}`)) {
        const to = walk(part, place, node.resource)
        if (applies !== 'never') node.edges.push({ to, by: applies })
      }
    }
    return node
  }

  const resolve = ({ schema: { $ref }, at, resource }: SchemaNode): Target => {
    const location = typeof $ref === 'string' ? locate($ref, resource) : undefined
    if (location === undefined) {
      throw new SchemaRefused(`${at}/$ref`, 'must point to a place in this schema, as "#/…" does: nothing is fetched')
    }
    const target = location.fragment.startsWith('/')
      ? followPointer(location.fragment, location.resource)
      : followAnchor(location.fragment, location.resource)
    if (!isObject(target.value) && typeof target.value !== 'boolean') {
      throw new SchemaRefused(`${at}/$ref`, `does not point to a schema: ${$ref}`)
    }
    return target
  }

  const locate = (
    ref: string,
    resource: SchemaResource,
  ): { resource: SchemaResource; fragment: string } | undefined => {
    if (ref.startsWith('#')) return { resource, fragment: ref.slice(1) }
    const resolved = resolveUri(ref, resource.uri)
    const other = resolved && resources.get(resolved.uri)
    return other && { resource: other, fragment: resolved.fragment }
  }

  const followAnchor = (anchor: string, resource: SchemaResource): Target => {
    const value = anchor === '' ? resource.root : resource.anchors.get(decode(anchor))
    return { value, at: (value && nodes.get(value)?.at) ?? resource.at, resource }
  }

  const followPointer = (pointer: string, start: SchemaResource): Target => {
    const target: Target = { value: start.root, at: start.at, resource: start }
    for (const name of pointerNames(pointer)) {
      target.value = target.value === undefined ? undefined : memberOf(target.value, name)
      target.at += `/${pointerToken(name)}`
      if (isObject(target.value)) {
        target.resource = nodes.get(target.value)?.resource ?? enter(target.value, target.at, target.resource)
      }
    }
    return target
  }

  const base: SchemaResource = { uri: DEFAULT_BASE, root: document, at: '', anchors: new Map() }
  resources.set(DEFAULT_BASE, base)
  walk(document, '', base)
  // The list grows while it is read: what a reference points to can contain further references.
  for (const node of references) {
    const { value, at, resource } = resolve(node)
    if (value === undefined) continue
    node.target = value
    if (!isObject(value)) continue
    node.edges.push({ to: walk(value, at, resource), by: 'ref' })
  }
  return nodes
}

interface Target {
  value: JsonValue | undefined
  at: string
  resource: SchemaResource
}

/** A `$ref` of draft-07 and the definitions beside it, which it may point to. */
function withoutSiblings({ $ref, $defs, definitions }: JsonObject): JsonObject {
  const kept = { $ref, $defs, definitions }
  return Object.fromEntries(
    Object.entries(kept).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** Some serializers write every keyword and null for those without a value. */
function withoutNulls(schema: JsonObject): JsonObject {
  const names = Object.keys(schema)
  const counts = (name: string): boolean => schema[name] !== null || name === 'const'
  if (names.every(counts)) return schema
  return Object.fromEntries(Object.entries(schema).filter(([name]) => counts(name)))
}

function* subschemas(keyword: string, value: JsonValue, at: string): Generator<[string, JsonObject]> {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) if (isObject(item)) yield [`${at}/${i}`, item]
  } else if (isObject(value) && NAMED.has(keyword)) {
    for (const [name, item] of Object.entries(value)) if (isObject(item)) yield [`${at}/${pointerToken(name)}`, item]
  } else if (isObject(value)) yield [at, value]
}

function resolveUri(reference: string, base: string): { uri: string; fragment: string } | undefined {
  if (reference.length > MAX_URI_LENGTH || !URL.canParse(reference, base)) return undefined
  const url = new URL(reference, base)
  const fragment = url.hash.slice(1)
  url.hash = ''
  return url.href.length > MAX_URI_LENGTH ? undefined : { uri: url.href, fragment }
}

/** The names in a JSON pointer that was written as a URI fragment (RFC 6901 §6). */
export const pointerNames = (pointer: string): string[] =>
  pointer
    .slice(1)
    .split('/')
    .map((token) => decode(token).replaceAll('~1', '/').replaceAll('~0', '~'))

/** The member of an object, or the item of an array, that a JSON pointer names. */
export function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(name) ? value[Number(name)] : undefined
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    // A stray "%" stands for itself.
    return fragment
  }
}
