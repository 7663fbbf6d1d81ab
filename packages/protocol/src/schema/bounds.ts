import { isObject, type JsonValue, pointerToken } from '../json.js'
import { type SchemaEdge, type SchemaGraph, type SchemaNode, SchemaRefused } from './graph.js'

export interface SizeBounds {
  /** Values in the schema: more would compile too slowly. */
  readonly maxValues: number
  readonly maxDepth: number
}

export interface WorkBounds {
  /** Subschemas that the schema may apply to one value: shared references multiply. */
  readonly maxCost: number
  /** Subschemas that apply each other to the same value: each takes a stack frame. */
  readonly maxChain: number
}

/** Rejects a schema that is too large to analyse. */
export function assertSchemaSize(schema: JsonValue, { maxValues, maxDepth }: SizeBounds): void {
  let values = 0
  const path: (string | number)[] = []
  const enter = (name: string | number, value: JsonValue): void => {
    path.push(name)
    count(value)
    path.pop()
  }
  const count = (value: JsonValue): void => {
    if (++values > maxValues) throw new SchemaRefused('', `is too large: more than ${maxValues} values`)
    if (path.length > maxDepth) throw new SchemaRefused(pointerOf(path), `is nested deeper than ${maxDepth}`)
    if (Array.isArray(value)) value.forEach((item, i) => void enter(i, item))
    else if (isObject(value)) for (const name of Object.keys(value)) enter(name, value[name] ?? null)
  }
  count(schema)
}

const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((name) => `/${typeof name === 'number' ? name : pointerToken(name)}`).join('')

/**
 * Rejects schemas that might not terminate or take exponential time. Recursion is allowed if each step descends into
 * the value by one path. With two paths to the same part of the value (two branches of an anyOf, a `$ref` beside
 * properties), the work could double at each level. Without recursion, shared references multiply: their product is
 * bounded by `maxCost`. The rest is bounded while values are checked (`Run`).
 */
export function assertBoundedWork(graph: SchemaGraph, { maxCost, maxChain }: WorkBounds): void {
  // Most schemas have no references; then size and depth of the graph bound the work.
  if (graph.size <= Math.min(maxCost, maxChain) && isForest(graph)) return
  const costs = new Map<SchemaNode, number>()
  // Cycles come after everything they lead to, so the costs of their targets are known.
  for (const cycle of findCycles(graph)) {
    const members = new Set(cycle)
    const isInside = ({ to }: SchemaEdge): boolean => members.has(to)
    let cost = 0
    for (const node of cycle) {
      assertSinglePath(node, node.edges.filter(isInside))
      const leaving = node.edges.filter((edge) => !isInside(edge))
      cost += leaving.reduce((sum, { to }) => sum + (costs.get(to) ?? 0), 1)
      if (cost > maxCost) throw new SchemaRefused(node.at, 'is too costly to apply: its references multiply')
    }
    for (const node of cycle) costs.set(node, cost)
    assertDescent(cycle, members)
  }
  assertShortChains(graph, maxChain)
}

/** Whether no subschema is applied from two places, not even by a reference. */
function isForest(graph: SchemaGraph): boolean {
  const reached = new Set<SchemaNode>()
  for (const { edges } of graph.values()) {
    for (const { to, by } of edges) {
      if (by === 'ref' || reached.has(to)) return false
      reached.add(to)
    }
  }
  return true
}

function assertSinglePath(node: SchemaNode, back: SchemaEdge[]): void {
  if (back.length > 1 && back.some(({ by }) => by !== 'below')) {
    throw new SchemaRefused(
      node.at,
      'refers to itself by two paths that can lead to the same part of a value, as in anyOf',
    )
  }
}

/** A cycle must descend into the value. `assertSinglePath` has left each node at most one edge that stays in place. */
function assertDescent(cycle: readonly SchemaNode[], members: ReadonlySet<SchemaNode>): void {
  const ended = new Set<SchemaNode>()
  const staying = ({ edges }: SchemaNode): SchemaNode | undefined =>
    edges.find((edge) => members.has(edge.to) && isInPlace(edge))?.to
  for (const start of cycle) {
    const path = new Set<SchemaNode>()
    for (let node: SchemaNode | undefined = start; node && !ended.has(node); node = staying(node)) {
      if (path.has(node)) throw new SchemaRefused(node.at, 'refers to itself endlessly')
      path.add(node)
    }
    for (const seen of path) ended.add(seen)
  }
}

const isInPlace = ({ by }: SchemaEdge): boolean => by === 'ref' || by === 'branch'

function assertShortChains(graph: SchemaGraph, maxChain: number): void {
  const lengths = new Map<SchemaNode, number>()
  const lengthOf = (node: SchemaNode): number => {
    let length = lengths.get(node)
    if (length === undefined) {
      length = 1 + Math.max(0, ...node.edges.filter(isInPlace).map(({ to }) => lengthOf(to)))
      lengths.set(node, length)
    }
    if (length > maxChain)
      throw new SchemaRefused(node.at, `nests more than ${maxChain} schemas that apply to the same value`)
    return length
  }
  // Terminates: cycles in place have been rejected.
  for (const node of graph.values()) lengthOf(node)
}

/** Tarjan's algorithm: the strongly connected components, each after everything it leads to. */
function findCycles(graph: SchemaGraph): SchemaNode[][] {
  const cycles: SchemaNode[][] = []
  const order = new Map<SchemaNode, number>()
  const pending: SchemaNode[] = []
  const isPending = new Set<SchemaNode>()

  const visit = (node: SchemaNode): number => {
    const number = order.size
    order.set(node, number)
    pending.push(node)
    isPending.add(node)
    let lowest = number
    for (const { to } of node.edges) {
      const known = order.get(to)
      if (known === undefined) lowest = Math.min(lowest, visit(to))
      else if (isPending.has(to)) lowest = Math.min(lowest, known)
    }
    if (lowest === number) {
      const cycle = pending.splice(pending.indexOf(node))
      for (const member of cycle) isPending.delete(member)
      cycles.push(cycle)
    }
    return lowest
  }

  for (const node of graph.values()) if (!order.has(node)) visit(node)
  return cycles
}
