import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonObject, JsonValue } from '@switchboard/protocol'
import type { Keyword, TypeWord } from './type-map.js'

/** JSON that is only read, such as a literal declared `as const`. */
export type ReadonlyJson =
  | null
  | boolean
  | number
  | string
  | readonly ReadonlyJson[]
  | { readonly [member: string]: ReadonlyJson }

/**
 * What describes an input or output: a JSON Schema, a map of names to types such as `{ text: 'string', to: 'string?' }`,
 * or a Standard Schema such as those of Zod and Valibot.
 */
export type Schema = { readonly [member: string]: ReadonlyJson } | StandardSchemaV1

/** What a handler gets for an input schema: any object without one, and any JSON value if the schema is not a literal. */
export type HandlerInput<S> = Schema extends S
  ? JsonObject
  : S extends StandardSchemaV1
    ? StandardSchemaV1.InferOutput<S>
    : FromSchema<S>

/** What a handler returns for an output schema. */
export type HandlerOutput<S> = Schema extends S
  ? ReadonlyJson
  : S extends StandardSchemaV1
    ? StandardSchemaV1.InferInput<S>
    : DeepReadonly<FromSchema<S>>

declare const NEVER: unique symbol

/**
 * No value has this type. As a part of a handler's result type it makes the compiler keep literals as they are written,
 * so that `{ state: 'on' }` matches `enum: ['on', 'off']`.
 */
export interface KeepLiterals {
  readonly [NEVER]: never
  readonly [member: string]: LiteralJson
}

type LiteralJson =
  | ''
  | 0
  | boolean
  | null
  | (string & {})
  | (number & {})
  | readonly LiteralJson[]
  | { readonly [member: string]: LiteralJson }

/** The values that a JSON Schema or a type map accepts; `JsonValue` for constructs that have no type. */
export type FromSchema<S> = S extends true
  ? JsonValue
  : S extends false
    ? never
    : string extends keyof S
      ? JsonValue
      : IsTypeMap<S> extends true
        ? FromTypeMap<S>
        : FromJsonSchema<S>

/** A type word that the kit does not know; using the value is an error, and so is starting the agent. */
export interface UnknownTypeWord<W> {
  readonly unknownTypeWord: W
}

interface WordTypes {
  string: string
  number: number
  integer: number
  boolean: boolean
  array: JsonValue[]
  object: JsonObject
  null: null
  any: JsonValue
  file: string
}

/** The same rule as `isSimpleMap` and `unknownTypeMember` apply when the agent starts. */
type IsTypeMap<S> = [keyof S] extends ['type']
  ? false
  : S[keyof S] extends TypeWord
    ? true
    : [Exclude<keyof S, Keyword>] extends [never]
      ? false
      : [Extract<keyof S, `$${string}`> | (S[Extract<keyof S, Keyword>] extends string ? never : 'schema')] extends [
            never,
          ]
        ? true
        : false

type FromTypeMap<S> = Flatten<
  { -readonly [N in keyof S as S[N] extends `${string}?` ? never : N]: FromWord<S[N]> } & {
    -readonly [N in keyof S as S[N] extends `${string}?` ? N : never]?: FromWord<S[N]>
  }
>

type FromWord<W> = W extends keyof WordTypes
  ? WordTypes[W]
  : W extends `${infer T extends keyof WordTypes}?`
    ? WordTypes[T]
    : string extends W
      ? JsonValue
      : UnknownTypeWord<W>

type FromJsonSchema<S> = S extends { readonly const: infer V }
  ? Mutable<V>
  : S extends { readonly enum: readonly (infer V)[] }
    ? Mutable<V>
    : FromAlternatives<S> | (S extends { readonly nullable: true } ? null : never)

/** `anyOf` and `oneOf` count only if the schema has no `properties` of its own. */
type FromAlternatives<S> = S extends { readonly properties: unknown }
  ? FromTypes<S>
  : S extends { readonly anyOf: readonly (infer A)[] }
    ? FromSchema<A>
    : S extends { readonly oneOf: readonly (infer A)[] }
      ? FromSchema<A>
      : FromTypes<S>

type FromTypes<S> = S extends { readonly type: readonly (infer T)[] }
  ? FromType<T, S>
  : S extends { readonly type: infer T }
    ? FromType<T, S>
    : S extends { readonly properties: unknown }
      ? FromObject<S>
      : JsonValue

type FromType<T, S> = T extends 'string'
  ? string
  : T extends 'number' | 'integer'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? FromArray<S>
          : T extends 'object'
            ? FromObject<S>
            : JsonValue

type FromArray<S> = S extends { readonly prefixItems: unknown }
  ? JsonValue[]
  : S extends { readonly items: readonly unknown[] }
    ? JsonValue[]
    : S extends { readonly items: infer I }
      ? FromSchema<I>[]
      : JsonValue[]

type FromObject<S> = S extends { readonly properties: infer P }
  ? Flatten<
      { -readonly [N in keyof P as N extends RequiredOf<S> ? N : never]: FromSchema<P[N]> } & {
        -readonly [N in keyof P as N extends RequiredOf<S> ? never : N]?: FromSchema<P[N]>
      } & { [N in Exclude<RequiredOf<S>, keyof P>]: JsonValue }
    >
  : S extends { readonly additionalProperties: infer A extends object }
    ? { [member: string]: FromSchema<A> }
    : JsonObject

type RequiredOf<S> = S extends { readonly required: readonly (infer N extends string)[] } ? N : never

/** One object type instead of an intersection, so that editors and errors show its members. */
type Flatten<T> = T extends infer U ? { [N in keyof U]: U[N] } : never

type Mutable<T> = T extends readonly unknown[] | object ? { -readonly [N in keyof T]: Mutable<T[N]> } : T

/** Handlers may return what they only read. */
type DeepReadonly<T> = JsonValue extends T
  ? ReadonlyJson
  : T extends readonly (infer I)[]
    ? readonly DeepReadonly<I>[]
    : T extends object
      ? { readonly [N in keyof T]: DeepReadonly<T[N]> }
      : T
