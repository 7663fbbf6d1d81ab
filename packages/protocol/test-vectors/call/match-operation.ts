import type { JsonObject } from '../../src/index.js'

export interface MatchOperationVector {
  readonly title: string
  readonly operations: readonly { readonly name: string; readonly inputs: JsonObject }[]
  /** The operation that the URL names. */
  readonly inUrl?: string
  readonly input: JsonObject
  readonly match:
    | { readonly kind: 'match'; readonly operation: string; readonly input: JsonObject }
    | { readonly kind: 'missing' | 'conflict' }
    | { readonly kind: 'unknown'; readonly place: 'url' | 'member' }
}

const ONE = [{ name: 'a', inputs: { text: 'string?' } }]
const TWO = [...ONE, { name: 'b', inputs: { text: 'string?' } }]
const OWN = { type: 'object', properties: { operation: { type: 'string' } } }
const owning = (inputs: JsonObject): MatchOperationVector => ({
  title: `the member belongs to the only operation if that declares it: ${JSON.stringify(inputs)}`,
  operations: [{ name: 'a', inputs }],
  input: { operation: 'multiply' },
  match: { kind: 'match', operation: 'a', input: { operation: 'multiply' } },
})

/** Which operation a call is for, by its URL and the member `operation` (C-58). */
export const MATCH_OPERATION_VECTORS: readonly MatchOperationVector[] = [
  {
    title: 'the only operation need not be named',
    operations: ONE,
    input: { text: 'x' },
    match: { kind: 'match', operation: 'a', input: { text: 'x' } },
  },
  {
    title: 'the only operation may be named, and the name is removed from the input',
    operations: ONE,
    input: { operation: 'a', text: 'x' },
    match: { kind: 'match', operation: 'a', input: { text: 'x' } },
  },
  {
    title: 'the only operation may not be called by another name',
    operations: ONE,
    input: { operation: 'c' },
    match: { kind: 'unknown', place: 'member' },
  },
  owning({ operation: 'string' }),
  owning(OWN),
  owning({ allOf: [{}, OWN] }),
  owning({ oneOf: [OWN] }),
  owning({ $ref: '#/$defs/input', $defs: { input: OWN } }),
  {
    title: 'the member selects one of several operations',
    operations: TWO,
    input: { operation: 'b', text: 'x' },
    match: { kind: 'match', operation: 'b', input: { text: 'x' } },
  },
  {
    title: 'with several operations, one must be named',
    operations: TWO,
    input: { text: 'x' },
    match: { kind: 'missing' },
  },
  {
    title: 'with several operations, the named one must exist',
    operations: TWO,
    input: { operation: 'c' },
    match: { kind: 'unknown', place: 'member' },
  },
  {
    title: 'a name that is not a string matches no operation',
    operations: TWO,
    input: { operation: { name: 'a' } },
    match: { kind: 'unknown', place: 'member' },
  },
  {
    title: 'the URL names the operation',
    operations: TWO,
    inUrl: 'b',
    input: { text: 'x' },
    match: { kind: 'match', operation: 'b', input: { text: 'x' } },
  },
  {
    title: 'URL and member may agree',
    operations: TWO,
    inUrl: 'b',
    input: { operation: 'b', text: 'x' },
    match: { kind: 'match', operation: 'b', input: { text: 'x' } },
  },
  {
    title: 'URL and member may not contradict each other',
    operations: TWO,
    inUrl: 'b',
    input: { operation: 'a' },
    match: { kind: 'conflict' },
  },
  {
    title: 'the member belongs to the operation in the URL if that declares it',
    operations: [...ONE, { name: 'b', inputs: OWN }],
    inUrl: 'b',
    input: { operation: 'a' },
    match: { kind: 'match', operation: 'b', input: { operation: 'a' } },
  },
  {
    title: 'the operation in the URL must exist',
    operations: ONE,
    inUrl: 'c',
    input: {},
    match: { kind: 'unknown', place: 'url' },
  },
  {
    title: 'names of Object.prototype are not operations',
    operations: ONE,
    inUrl: 'constructor',
    input: {},
    match: { kind: 'unknown', place: 'url' },
  },
]
