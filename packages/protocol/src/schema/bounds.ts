import { isObject, type JsonValue, pointerToken } from '../json.js'
import { type SchemaEdge, type SchemaGraph, type SchemaNode, SchemaRefused } from './graph.js'

export interface SizeBounds {
  /** Values in the schema: more compile too slowly. */
  readonly maxValues: number
  readonly maxDepth: number
}

export interface WorkBounds {
  /** Subschemas that applying the schema to one value may visit: shared references multiply. */
  readonly maxCost: number
  /** Subschemas that apply each other to the same value: each needs a place on the stack. */
  readonly maxChain: number
}

/** Refuses a schema that is too large to be looked at closely. */
export function assertSchemaSize(schema: JsonValue, { maxValues, maxDepth }: SizeBounds): void {
  let values = 0
  const count = (value: JsonValue, at: string, depth: number): void => {
    if (++values > maxValues) throw new SchemaRefused('', `is too large: more than ${maxValues} values`)
    if (depth > maxDepth) throw new SchemaRefused(at, `is nested deeper than ${maxDepth}`)
    if (Array.isArray(value)) for (const [i, item] of value.entries()) count(item, `${at}/${i}`, depth + 1)
    else if (isObject(value)) {
      for (const [name, item] of Object.entries(value)) count(item, `${at}/${pointerToken(name)}`, depth + 1)
    }
  }
  count(schema, '', 0)
}

/**
 * Refuses what cannot end or can take exponential time. A schema may lead back to itself where each step goes down into
 * the value by one way; by two ways that can meet at the same part (two branches of an anyOf, a `$ref` beside
 * properties), the work could double at each level. Without recursion, references that share their targets multiply:
 * their product is bounded by `maxCost`. What remains is bounded while values are checked (work-budget.ts).
 */
export function assertBoundedWork(graph: SchemaGraph, { maxCost, maxChain }: WorkBounds): void {
  const costs = new Map<SchemaNode, number>()
  // Circles come after everything they lead to, so the costs of what lies below are known.
  for (const circle of findCircles(graph)) {
    const members = new Set(circle)
    const isInside = ({ to }: SchemaEdge): boolean => members.has(to)
    let cost = 0
    for (const node of circle) {
      assertOneWay(node, node.edges.filter(isInside))
      const leaving = node.edges.filter((edge) => !isInside(edge))
      cost += leaving.reduce((sum, { to }) => sum + (costs.get(to) ?? 0), 1)
      if (cost > maxCost) throw new SchemaRefused(node.at, 'is too costly to apply: its references multiply')
    }
    for (const node of circle) costs.set(node, cost)
    assertDescent(circle, members)
  }
  assertShortChains(graph, maxChain)
}

function assertOneWay(node: SchemaNode, back: SchemaEdge[]): void {
  if (back.length > 1 && back.some(({ by }) => by !== 'below')) {
    throw new SchemaRefused(
      node.at,
      'refers to itself by two ways that can lead to the same part of a value, as in anyOf',
    )
  }
}

/** A circle must go down into the value somewhere. What stays at the same value is the only way back of its node. */
function assertDescent(circle: readonly SchemaNode[], members: ReadonlySet<SchemaNode>): void {
  const ended = new Set<SchemaNode>()
  const staying = ({ edges }: SchemaNode): SchemaNode | undefined =>
    edges.find((edge) => members.has(edge.to) && isInPlace(edge))?.to
  for (const start of circle) {
    const path = new Set<SchemaNode>()
    for (let node: SchemaNode | undefined = start; node && !ended.has(node); node = staying(node)) {
      if (path.has(node)) throw new SchemaRefused(node.at, 'refers to itself without end')
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
      throw new SchemaRefused(node.at, `applies more than ${maxChain} schemas one inside the other`)
    return length
  }
  // What applies itself in place has been refused, so this ends.
  for (const node of graph.values()) lengthOf(node)
}

/** Tarjan's strongly connected components, each after all that it leads to. */
function findCircles(graph: SchemaGraph): SchemaNode[][] {
  const circles: SchemaNode[][] = []
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
      const circle = pending.splice(pending.indexOf(node))
      for (const member of circle) isPending.delete(member)
      circles.push(circle)
    }
    return lowest
  }

  for (const node of graph.values()) if (!order.has(node)) visit(node)
  return circles
}
