// Compiled by `tsc -p tsconfig.test.json`, never run. A handler that contradicts its schemas must not compile: each
// `@ts-expect-error` below is itself an error if the line under it compiles.
import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { object, string } from 'valibot'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import {
  capability,
  createAgent,
  type FromSchema,
  type HandlerContext,
  type UnknownTypeWord,
  withJsonSchema,
} from '../src/index.js'

const about = { name: 'typed', version: '1.0.0', description: 'Checks types.' }
const schema = <const S>(_schema: S): FromSchema<S> => {
  throw new TypeError('never run')
}

// Maps of names to types.
expectTypeOf(schema({ text: 'string', to: 'string?' })).toEqualTypeOf<{ text: string; to?: string }>()
expectTypeOf(
  schema({
    n: 'number',
    i: 'integer',
    yes: 'boolean',
    list: 'array',
    more: 'object?',
    nil: 'null',
    x: 'any',
    f: 'file',
  }),
).toEqualTypeOf<{
  n: number
  i: number
  yes: boolean
  list: JsonValue[]
  more?: JsonObject
  nil: null
  x: JsonValue
  f: string
}>()
expectTypeOf(schema({ title: 'string', description: 'string?' })).toEqualTypeOf<{
  title: string
  description?: string
}>()
expectTypeOf(schema({ texts: 'string[]' })).toEqualTypeOf<{ texts: UnknownTypeWord<'string[]'> }>()

// JSON Schema.
expectTypeOf(schema({ type: 'string' })).toEqualTypeOf<string>()
expectTypeOf(schema({ type: 'string', description: 'A word.', minLength: 1 })).toEqualTypeOf<string>()
expectTypeOf(schema({ type: ['integer', 'null'] })).toEqualTypeOf<number | null>()
expectTypeOf(schema({ type: 'string', nullable: true })).toEqualTypeOf<string | null>()
expectTypeOf(schema({ enum: ['on', 'off', 3] })).toEqualTypeOf<'on' | 'off' | 3>()
expectTypeOf(schema({ const: { a: [1] } })).toEqualTypeOf<{ a: [1] }>()
expectTypeOf(schema({ type: 'array', items: { type: 'number' } })).toEqualTypeOf<number[]>()
expectTypeOf(schema({ type: 'array', prefixItems: [{ type: 'number' }] })).toEqualTypeOf<JsonValue[]>()
expectTypeOf(schema({ type: 'object' })).toEqualTypeOf<JsonObject>()
expectTypeOf(schema({ type: 'object', additionalProperties: { type: 'number' } })).toEqualTypeOf<{
  [member: string]: number
}>()
expectTypeOf(
  schema({
    type: 'object',
    properties: {
      city: { type: 'string' },
      stops: {
        type: 'array',
        items: {
          type: 'object',
          properties: { at: { type: 'number' } },
          required: ['at'],
          additionalProperties: false,
        },
      },
      mode: { enum: ['train', 'bus'] },
    },
    required: ['city', 'stops', 'note'],
  }),
).toEqualTypeOf<{ city: string; stops: { at: number }[]; mode?: 'train' | 'bus'; note: JsonValue }>()
expectTypeOf(schema({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] })).toEqualTypeOf<
  string | string[]
>()
expectTypeOf(
  schema({ type: 'object', oneOf: [{ properties: { a: { type: 'string' } }, required: ['a'] }, { type: 'null' }] }),
).toEqualTypeOf<{ a: string } | null>()
// Constructs without a type.
expectTypeOf(schema({ $ref: '#/$defs/place' })).toEqualTypeOf<JsonValue>()
expectTypeOf(schema({ not: { type: 'string' } })).toEqualTypeOf<JsonValue>()
expectTypeOf(schema({})).toEqualTypeOf<JsonValue>()
const fromFile: JsonObject = {}
expectTypeOf(schema(fromFile)).toEqualTypeOf<JsonValue>()

// Correct handlers, each with the types of its own schemas.
createAgent({
  ...about,
  capabilities: [
    {
      name: 'reverse',
      input: { text: 'string' },
      output: { letters: 'array' },
      handler: ({ text }, { signal }) => {
        expectTypeOf(text).toEqualTypeOf<string>()
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
        return { letters: [...text].reverse() }
      },
    },
    {
      name: 'state',
      output: { type: 'object', properties: { state: { enum: ['on', 'off'] } }, required: ['state'] },
      handler: async (input) => {
        expectTypeOf(input).toEqualTypeOf<JsonObject>()
        return { state: 'on' }
      },
    },
    {
      name: 'states',
      output: { type: 'object', properties: { all: { type: 'array', items: { enum: ['on', 0] } } }, required: ['all'] },
      handler: async () => ({ all: ['on', 0] }),
    },
    {
      name: 'count',
      input: { to: 'integer' },
      output: { type: 'array', items: { type: 'integer' } },
      async *handler({ to }) {
        for (let n = 1; n <= to; n++) yield n
        return [to]
      },
    },
    {
      name: 'zod',
      input: z.object({ at: z.string().transform((text) => new Date(text)) }),
      output: z.object({ year: z.number() }),
      handler: ({ at }) => ({ year: at.getFullYear() }),
    },
    {
      name: 'valibot',
      input: withJsonSchema(object({ text: string() }), { text: 'string' }),
      handler: ({ text }) => text.length,
    },
    { name: 'annotated', input: { text: 'string' }, handler: ({ text }: { text: string }) => ({ text }) },
    { name: 'less', input: { text: 'string', to: 'string' }, handler: ({ text }: { text: string }) => [text] as const },
    capability({ name: 'elsewhere', input: { text: 'string?' }, handler: ({ text = '' }) => text.trim() }),
  ],
})

// Lists of any length.
const list = ['a', 'b'].map((name) => capability({ name, handler: () => name }))
createAgent({ ...about, capabilities: list, olderVersions: { '0.9.0': list } })

// Wrong handlers.
capability({
  name: 'typo',
  input: { text: 'string' },
  // @ts-expect-error the member is called text
  handler: ({ txt }) => txt,
})
capability({
  name: 'wrong-annotation',
  input: { text: 'string' },
  // @ts-expect-error text is a string
  handler: ({ text }: { text: number }) => text,
})
capability({
  name: 'may-be-missing',
  input: { text: 'string?' },
  // @ts-expect-error text may be undefined
  handler: ({ text }) => text.length,
})
capability({
  name: 'asks-for-more',
  input: { text: 'string' },
  // @ts-expect-error the schema does not require `to`
  handler: ({ to }: { text: string; to: string }) => to,
})
capability({
  name: 'unknown-word',
  input: { texts: 'string[]' },
  // @ts-expect-error 'string[]' is not a type word
  handler: ({ texts }) => texts.length,
})
capability({
  name: 'wrong-output',
  input: { text: 'string' },
  output: { length: 'integer' },
  // @ts-expect-error length is a number
  handler: ({ text }) => ({ length: text }),
})
capability({
  name: 'missing-output',
  output: { length: 'integer' },
  // @ts-expect-error length is missing
  handler: async () => ({ size: 1 }),
})
capability({
  name: 'not-in-enum',
  output: { type: 'object', properties: { state: { enum: ['on', 'off'] } }, required: ['state'] },
  // @ts-expect-error not one of the values
  handler: (_input) => ({ state: 'dim' }),
})
capability({
  name: 'wrong-whole',
  output: { type: 'array', items: { type: 'integer' } },
  // @ts-expect-error the generator returns a string, not the list
  async *handler() {
    yield 1
    return 'one'
  },
})
// @ts-expect-error a Date is not JSON
capability({ name: 'no-json', handler: () => new Date() })
capability({
  name: 'zod',
  input: z.object({ n: z.number() }),
  output: z.object({ text: z.string() }),
  // @ts-expect-error text is a string
  handler: ({ n }) => ({ text: n }),
})
// @ts-expect-error a schema is an object
capability({ name: 'no-schema', input: 'string', handler: () => 1 })
// @ts-expect-error the member is called input
capability({ name: 'no-such-option', inputs: { text: 'string' }, handler: () => 1 })
capability({
  name: 'no-such-context',
  // @ts-expect-error the context has no user
  handler: (_input, { user }) => user,
})

// The same in a list, whatever the position.
createAgent({
  ...about,
  capabilities: [
    { name: 'right', input: { text: 'string' }, handler: ({ text }) => text.length },
    {
      name: 'typo',
      input: { text: 'string' },
      // @ts-expect-error the member is called text
      handler: ({ txt }) => txt,
    },
    {
      name: 'wrong-output',
      input: { to: 'integer' },
      output: { to: 'string' },
      // @ts-expect-error to is a string in the output
      handler: ({ to }) => ({ to }),
    },
    {
      name: 'unknown-word',
      input: { texts: 'string[]' },
      // @ts-expect-error 'string[]' is not a type word
      handler: ({ texts }) => texts.map(String),
    },
    {
      name: 'wrong-annotation',
      input: { type: 'object', properties: { n: { type: 'number' } } },
      // @ts-expect-error n may be missing
      handler: ({ n }: { n: number }, _context: HandlerContext) => n,
    },
  ],
})
// @ts-expect-error an agent needs a capability with a handler
createAgent({ ...about, capabilities: [{ name: 'nothing' }] })
