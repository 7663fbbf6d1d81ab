import type { JsonValue } from '../../src/json.js'

/** A stream of an agent, and how it is read. */
export interface StreamVector {
  readonly name: string
  readonly body: string
  readonly parts: readonly { readonly data: JsonValue; readonly event?: string; readonly id?: string }[]
  /** The stream ends with an error of the agent after these parts. */
  readonly fails?: boolean
}

/** Bodies of the type text/event-stream. */
export const EVENT_STREAMS: readonly StreamVector[] = [
  { name: 'events with JSON', body: 'data: {"n":1}\n\ndata: [2]\n\n', parts: [{ data: { n: 1 } }, { data: [2] }] },
  {
    name: 'names and ids',
    body: 'id: 7\nevent: word\ndata: "a"\n\ndata: "b"\n\n',
    parts: [{ data: 'a', event: 'word', id: '7' }, { data: 'b' }],
  },
  { name: 'data of several lines', body: 'data: {\ndata: "n":1}\n\n', parts: [{ data: { n: 1 } }] },
  { name: 'CR LF', body: 'data: 1\r\n\r\ndata: 2\r\n\r\n', parts: [{ data: 1 }, { data: 2 }] },
  { name: 'CR', body: 'data: 1\r\rdata: 2\r\r', parts: [{ data: 1 }, { data: 2 }] },
  { name: 'comments and unknown fields', body: ': hi\n\nfoo: bar\nretry: 5\ndata: 1\n\n', parts: [{ data: 1 }] },
  { name: 'plain text', body: 'data: Hello\n\ndata:  world\n\n', parts: [{ data: 'Hello' }, { data: ' world' }] },
  ...['end', 'done', 'complete'].map((event) => ({
    name: `an end mark named ${event}`,
    body: `data: 1\n\nevent: ${event}\ndata: {}\n\ndata: 2\n\n`,
    parts: [{ data: 1 }],
  })),
  { name: '[DONE]', body: 'data: 1\n\ndata: [DONE]\n\ndata: 2\n\n', parts: [{ data: 1 }] },
  {
    name: 'an event named done that has data',
    body: 'data: 1\n\nevent: done\ndata: {"n":2}\n\n',
    parts: [{ data: 1 }, { data: { n: 2 }, event: 'done' }],
  },
  { name: 'an event without its blank line', body: 'data: 1\n\ndata: 2\n', parts: [{ data: 1 }] },
  {
    name: 'an error event',
    body: 'data: 1\n\nevent: error\ndata: {"error":{"code":"Broke","message":"no"}}\n\n',
    parts: [{ data: 1 }],
    fails: true,
  },
]

/** Bodies of the type application/x-ndjson. */
export const NDJSON_STREAMS: readonly StreamVector[] = [
  { name: 'lines', body: '{"n":1}\n[2]\n"three"\n', parts: [{ data: { n: 1 } }, { data: [2] }, { data: 'three' }] },
  { name: 'a last line without its end', body: '1\n2', parts: [{ data: 1 }, { data: 2 }] },
  { name: 'CR LF', body: '1\r\n2\r\n', parts: [{ data: 1 }, { data: 2 }] },
  { name: 'blank lines', body: '\n1\n\n \n2\n\n', parts: [{ data: 1 }, { data: 2 }] },
  { name: 'an error line', body: '1\n{"error":{"code":"Broke","message":"no"}}\n', parts: [{ data: 1 }], fails: true },
  { name: 'an error line with a text', body: '1\n{"error":"no"}\n', parts: [{ data: 1 }], fails: true },
  {
    name: 'a JSON-RPC error',
    body: '1\n{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}\n',
    parts: [{ data: 1 }],
    fails: true,
  },
  {
    name: 'a line that has an error among other members',
    body: '{"n":1,"error":{"code":"x"}}\n',
    parts: [{ data: { n: 1, error: { code: 'x' } } }],
  },
]

/** What is written for a stream, in both formats. */
export interface WriteVector {
  readonly name: string
  readonly parts: readonly { readonly data: JsonValue; readonly event?: string; readonly id?: string }[]
  readonly events: string
  readonly lines: string
}

const END = 'event: end\ndata: {}\n\n'

export const WRITTEN_STREAMS: readonly WriteVector[] = [
  { name: 'nothing', parts: [], events: END, lines: '' },
  {
    name: 'values',
    parts: [{ data: { text: 'a\nb' } }, { data: null }],
    events: `data: {"text":"a\\nb"}\n\ndata: null\n\n${END}`,
    lines: '{"text":"a\\nb"}\nnull\n',
  },
]
