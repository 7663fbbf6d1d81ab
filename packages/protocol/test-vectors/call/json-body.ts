import type { JsonValue } from '../../src/index.js'

export interface JsonBodyVector {
  readonly title: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Undefined: the body is rejected. */
  readonly value?: JsonValue
}

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
/** A text that contains bytes which are not UTF-8. */
const withBytes = (...bytes: readonly number[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from([...utf8('{"text":"'), ...bytes, ...utf8('"}')])

const nested = (depth: number): string => `{"text":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`

/** Bodies, all of them for an input or output with the member `text`. */
export const JSON_BODY_VECTORS: readonly JsonBodyVector[] = [
  { title: 'an object', bytes: utf8('{"text":"a"}'), value: { text: 'a' } },
  { title: 'non-ASCII text', bytes: utf8('{"text":"é𝄞"}'), value: { text: 'é𝄞' } },
  { title: 'a byte order mark', bytes: utf8('\ufeff{"text":"a"}'), value: { text: 'a' } },
  { title: 'a bare byte order mark inside a text', bytes: utf8('{"text":"\ufeff"}'), value: { text: '\ufeff' } },
  { title: 'whitespace around it', bytes: utf8(' \r\n\t{"text":"a"}\n'), value: { text: 'a' } },
  { title: 'two byte order marks', bytes: utf8('\ufeff\ufeff{"text":"a"}') },
  { title: 'a byte that is not UTF-8', bytes: withBytes(0xff) },
  { title: 'a truncated character', bytes: withBytes(0xc3) },
  { title: 'an overlong encoding', bytes: withBytes(0xc0, 0xaf) },
  { title: 'an encoded surrogate', bytes: withBytes(0xed, 0xa0, 0x80) },
  { title: 'half of an escaped surrogate pair', bytes: utf8('{"text":"\\ud800"}') },
  { title: 'a duplicate member', bytes: utf8('{"text":"a","text":"b"}') },
  { title: 'a member named __proto__', bytes: utf8('{"text":"a","__proto__":{}}') },
  { title: 'a number that overflows a double', bytes: utf8('{"text":1e999}') },
  { title: 'nesting deeper than 64', bytes: utf8(nested(65)) },
  { title: 'text after the end', bytes: utf8('{"text":"a"}x') },
  { title: 'a body that ends early', bytes: utf8('{"text":') },
  { title: 'JavaScript', bytes: utf8("{text:'a'}") },
]
