import type { JsonObject, ReservedMembers } from '../../src/index.js'

export interface ReservedMembersVector {
  readonly title: string
  /** Description of the operation's input. */
  readonly inputs: JsonObject
  readonly input: JsonObject
  /** What controls the call; `stream` is false unless given. */
  readonly reserved: Partial<ReservedMembers>
  /** What the agent gets. */
  readonly rest: JsonObject
}

const IDS = { sessionId: 's1', taskId: 't1' }
const property = (...names: readonly string[]): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})

/** Which members of an input control the call, and which belong to the agent because it declares them. */
export const RESERVED_MEMBERS_VECTORS: readonly ReservedMembersVector[] = [
  {
    title: 'an empty description declares nothing',
    inputs: {},
    input: { ...IDS, stream: false, text: 'a' },
    reserved: IDS,
    rest: { text: 'a' },
  },
  {
    title: 'a simple map declares its names',
    inputs: { text: 'string', sessionId: 'string?' },
    input: { ...IDS, text: 'a' },
    reserved: { taskId: 't1' },
    rest: { text: 'a', sessionId: 's1' },
  },
  {
    title: 'a schema declares its properties',
    inputs: property('stream', 'text'),
    input: { ...IDS, stream: 'river', text: 'a' },
    reserved: IDS,
    rest: { stream: 'river', text: 'a' },
  },
  {
    title: 'stream: true asks for a stream',
    inputs: { text: 'string' },
    input: { stream: true, text: 'a' },
    reserved: { stream: true },
    rest: { text: 'a' },
  },
  {
    title: 'stream: true asks for a stream, and stays in the input of an operation that declares it',
    inputs: { text: 'string', stream: 'boolean' },
    input: { stream: true, text: 'a' },
    reserved: { stream: true },
    rest: { stream: true, text: 'a' },
  },
  {
    title: 'any other value of stream asks for nothing',
    inputs: { text: 'string' },
    input: { stream: 'yes', text: 'a' },
    reserved: {},
    rest: { text: 'a' },
  },
  {
    title: 'other members with the names of control members are left alone',
    inputs: { type: 'object' },
    input: { streams: true, session: 's', task: 't', session_id: 'x' },
    reserved: {},
    rest: { streams: true, session: 's', task: 't', session_id: 'x' },
  },
  ...['allOf', 'anyOf', 'oneOf'].map((keyword) => ({
    title: `${keyword} declares what its parts declare`,
    inputs: { type: 'object', [keyword]: [property('taskId')] },
    input: IDS,
    reserved: { sessionId: 's1' },
    rest: { taskId: 't1' },
  })),
  {
    title: 'a reference into $defs is followed',
    inputs: { $ref: '#/$defs/input', $defs: { input: property('sessionId') } },
    input: IDS,
    reserved: { taskId: 't1' },
    rest: { sessionId: 's1' },
  },
  {
    title: 'a reference into definitions is followed',
    inputs: { $ref: '#/definitions/input', definitions: { input: property('taskId') } },
    input: IDS,
    reserved: { sessionId: 's1' },
    rest: { taskId: 't1' },
  },
  {
    title: 'a reference to any other place is followed, escapes included',
    inputs: { allOf: [{ $ref: '#/$defs/a~1b%20c/allOf/0' }], $defs: { 'a/b c': { allOf: [property('taskId')] } } },
    input: IDS,
    reserved: { sessionId: 's1' },
    rest: { taskId: 't1' },
  },
  {
    title: 'references and combinations are followed however deep they are nested',
    inputs: {
      allOf: [{ $ref: '#/$defs/a' }],
      $defs: {
        a: { anyOf: [{ $ref: '#/$defs/b' }] },
        b: { oneOf: [{ allOf: [{ $ref: '#/$defs/c' }] }] },
        c: property('sessionId', 'taskId'),
      },
    },
    input: { ...IDS, stream: false },
    reserved: {},
    rest: IDS,
  },
  {
    title: 'a recursive schema declares its own properties once',
    inputs: { type: 'object', properties: { taskId: { type: 'string' }, child: { $ref: '#' } } },
    input: { ...IDS, child: { taskId: 't2', sessionId: 's2' } },
    reserved: { sessionId: 's1' },
    rest: { taskId: 't1', child: { taskId: 't2', sessionId: 's2' } },
  },
  {
    title: 'members of members are not declared members',
    inputs: { type: 'object', properties: { nested: property('sessionId') } },
    input: { ...IDS, nested: { sessionId: 's2' } },
    reserved: IDS,
    rest: { nested: { sessionId: 's2' } },
  },
]
