import type { JsonValue } from '../../src/json.js'

export interface CallerFrameVector {
  readonly name: string
  readonly line: JsonValue
  /** What the frame requests; undefined: the line is not a frame. */
  readonly frame:
    | {
        readonly kind: 'request'
        readonly id: string | number
        readonly input: JsonValue
        readonly wantsStream: boolean
      }
    | { readonly kind: 'cancel'; readonly id: string | number }
    | undefined
  /** As the first line of a socket that also accepts a bare input, the line can only be a frame. */
  readonly isRequest: boolean
}

const hi = { text: 'hi' }

/** Lines of a caller. Their input suits an operation that echoes `text`. */
export const CALLER_FRAMES: readonly CallerFrameVector[] = [
  {
    name: 'a request',
    line: { id: '1', input: hi },
    frame: { kind: 'request', id: '1', input: hi, wantsStream: false },
    isRequest: true,
  },
  {
    name: 'a request with a number as its id',
    line: { id: 7, input: hi, stream: false },
    frame: { kind: 'request', id: 7, input: hi, wantsStream: false },
    isRequest: true,
  },
  {
    name: 'a request for a stream',
    line: { id: '1', input: hi, stream: true },
    frame: { kind: 'request', id: '1', input: hi, wantsStream: true },
    isRequest: true,
  },
  {
    name: 'a request whose stream is not a boolean',
    line: { id: '1', input: hi, stream: 'true' },
    frame: { kind: 'request', id: '1', input: hi, wantsStream: false },
    isRequest: true,
  },
  {
    name: 'a request with identifiers',
    line: { id: '1', input: hi, sessionId: 's1', taskId: 't1', requestId: 'r1', accept: ['application/json'] },
    frame: { kind: 'request', id: '1', input: hi, wantsStream: false },
    isRequest: true,
  },
  {
    name: 'a request without input',
    line: { id: '1', stream: false },
    frame: { kind: 'request', id: '1', input: {}, wantsStream: false },
    isRequest: false,
  },
  {
    name: 'a request with an unknown member',
    line: { id: '1', input: hi, text: 'hi' },
    frame: { kind: 'request', id: '1', input: hi, wantsStream: false },
    isRequest: false,
  },
  { name: 'a cancellation', line: { id: '1', cancel: true }, frame: { kind: 'cancel', id: '1' }, isRequest: false },
  { name: 'a line without an id', line: { input: hi }, frame: undefined, isRequest: false },
  { name: 'a line whose id is null', line: { id: null, input: hi }, frame: undefined, isRequest: false },
  { name: 'a line whose id is an object', line: { id: {}, input: hi }, frame: undefined, isRequest: false },
  { name: 'an array', line: ['1', hi], frame: undefined, isRequest: false },
  { name: 'a text', line: 'hi', frame: undefined, isRequest: false },
]

export interface ReplyVector {
  readonly name: string
  /** The lines of an agent in reply to a streaming call with the id "1", after which it closes the socket. */
  readonly lines: readonly JsonValue[]
  readonly parts: readonly { readonly data: JsonValue; readonly event?: string }[]
  /** The call fails after these parts; with this status, if the frame gives one. */
  readonly error?: { readonly status?: number }
}

/** Replies to a streaming call. */
export const REPLIES: readonly ReplyVector[] = [
  { name: 'a result', lines: [{ id: '1', result: { n: 1 } }], parts: [{ data: { n: 1 } }] },
  { name: 'a result of null', lines: [{ id: '1', result: null }], parts: [{ data: null }] },
  { name: 'an id that is a number', lines: [{ id: 1, result: 5 }], parts: [{ data: 5 }] },
  {
    name: 'parts and an end',
    lines: [
      { id: '1', data: 1 },
      { id: '1', data: 'a', event: 'word' },
      { id: '1', done: true },
    ],
    parts: [{ data: 1 }, { data: 'a', event: 'word' }],
  },
  {
    name: 'parts and an end with the alternative name',
    lines: [
      { id: '1', data: 1 },
      { id: '1', end: true },
    ],
    parts: [{ data: 1 }],
  },
  {
    name: 'a result after parts',
    lines: [
      { id: '1', data: 1 },
      { id: '1', result: 2 },
    ],
    parts: [{ data: 1 }, { data: 2 }],
  },
  {
    name: 'an error with a status beside it',
    lines: [
      { id: '1', data: 1 },
      { id: '1', status: 404, error: { code: 'NotFound', message: 'no' } },
    ],
    parts: [{ data: 1 }],
    error: { status: 404 },
  },
  {
    name: 'an error that is a problem document',
    lines: [
      { id: '1', data: 1 },
      { id: '1', error: { type: 'about:blank', title: 'Not Found', status: 404, detail: 'no' } },
    ],
    parts: [{ data: 1 }],
    error: { status: 404 },
  },
  {
    name: 'an error that is a text',
    lines: [
      { id: '1', data: 1 },
      { id: '1', error: 'no' },
    ],
    parts: [{ data: 1 }],
    error: {},
  },
  {
    name: 'GraphQL errors',
    lines: [
      { id: '1', data: 1 },
      { id: '1', errors: [{ message: 'no' }] },
    ],
    parts: [{ data: 1 }],
    error: {},
  },
  {
    name: 'bare lines',
    lines: [{ n: 1 }, [2], 'three'],
    parts: [{ data: { n: 1 } }, { data: [2] }, { data: 'three' }],
  },
  {
    name: 'a bare line with the id of the call but no other member of a frame',
    lines: [{ id: '1', text: 'hi' }],
    parts: [{ data: { id: '1', text: 'hi' } }],
  },
  {
    name: 'a bare line with an error among its members',
    lines: [{ n: 1 }, { error: 'none', n: 2 }],
    parts: [{ data: { n: 1 } }, { data: { error: 'none', n: 2 } }],
  },
  {
    name: 'a bare error',
    lines: [{ n: 1 }, { error: { code: 'Broke', message: 'no', status: 502 } }],
    parts: [{ data: { n: 1 } }],
    error: { status: 502 },
  },
  {
    name: 'parts without an end',
    lines: [{ id: '1', data: 1 }],
    parts: [{ data: 1 }],
    error: {},
  },
]

export interface MessageVector {
  readonly name: string
  /** Messages of a WebSocket, after which it closes. */
  readonly messages: readonly string[]
  readonly lines: readonly string[]
}

const one = '{"id":1,"input":{"text":"hi"}}'
const two = '{"id":2,"input":{"text":"hi"}}'

/** How messages are split into lines. The lines are request frames; sent by an agent they are bare lines. */
export const MESSAGES: readonly MessageVector[] = [
  { name: 'one line in a message', messages: [`${one}\n`, `${two}\n`], lines: [one, two] },
  { name: 'several lines in a message', messages: [`${one}\n${two}\n`], lines: [one, two] },
  {
    name: 'lines in several messages',
    messages: [one.slice(0, 9), one.slice(9), `\n${two.slice(0, 5)}`, `${two.slice(5)}\n`],
    lines: [one, two],
  },
  { name: 'values without line ends', messages: [one, two], lines: [one, two] },
  { name: 'a line end in the message after its line', messages: [one, `\n${two}\n`], lines: [one, two] },
  { name: 'blank lines and empty messages', messages: ['\n', '', `  \n${one}\n\n`], lines: [one] },
]

/** Messages of agents that send other values than objects, or close before the last line end. */
export const AGENT_MESSAGES: readonly MessageVector[] = [
  { name: 'values that are not objects', messages: ['[2]', '"x"', 'null', '3'], lines: ['[2]', '"x"', 'null', '3'] },
  { name: 'a last line without its end', messages: [`${one}\n${two}`], lines: [one, two] },
]
