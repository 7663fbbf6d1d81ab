import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import {
  checkPublisherSchema,
  type Issue,
  isObject,
  type JsonObject,
  type SchemaAllowance,
  TYPE_WORDS,
  toJsonSchema,
} from '@switchboard/protocol'
import type { Schema } from './infer.js'
import { unknownTypeMember } from './type-map.js'

/** A schema, ready for use. */
export interface ReadSchema {
  /** As published: a JSON Schema, or a map of names to types. */
  readonly json: JsonObject
  /** The author's Standard Schema, which validates in place of `json`. */
  readonly standard?: StandardSchemaV1
}

type Fail = (why: string) => never

/** Reads one schema of a capability; calls `fail` with what is wrong with it. */
export function readSchema(
  side: 'input' | 'output',
  schema: Schema,
  allowance: SchemaAllowance,
  fail: Fail,
): ReadSchema {
  const standard = isStandard(schema) ? schema : undefined
  const json = standard ? publishedSchema(side, standard, fail) : schema
  if (!isObject(json)) return fail(`${side} must be an object: a JSON Schema, or a map of names to types`)
  const unknown = unknownTypeMember(json)
  if (unknown) {
    fail(
      `${side} member "${unknown.name}" has the unknown type ${JSON.stringify(unknown.type)}; use one of ` +
        `${TYPE_WORDS.join(', ')}, with "?" if it may be missing, or write ${side} as a JSON Schema`,
    )
  }
  const [issue] = checkPublisherSchema(json, `/${side}`, allowance)
  if (issue) fail(`${issue.at} ${issue.message}`)
  return { json, ...(standard && { standard }) }
}

/** What a Standard Schema makes of a value, or what is wrong with it. */
export async function parseWith(
  schema: StandardSchemaV1,
  value: unknown,
): Promise<{ readonly value: unknown; readonly issues: readonly Issue[] }> {
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return { value: result.value, issues: [] }
  return { value, issues: result.issues.map(({ message, path = [] }) => ({ at: toPointer(path), message })) }
}

/**
 * Adds the JSON Schema that descriptors publish to a Standard Schema that cannot generate one, such as Valibot's. Zod's
 * can.
 *
 * @example
 * input: withJsonSchema(v.object({ text: v.string() }), { text: 'string' })
 */
export function withJsonSchema<S extends StandardSchemaV1>(
  schema: S,
  jsonSchema: JsonObject,
): StandardSchemaV1<StandardSchemaV1.InferInput<S>, StandardSchemaV1.InferOutput<S>> & StandardJSONSchemaV1 {
  const json = toJsonSchema(jsonSchema)
  return {
    '~standard': { ...schema['~standard'], jsonSchema: { input: () => json, output: () => json } },
  }
}

const isStandard = (schema: Schema): schema is StandardSchemaV1 => '~standard' in schema

function publishedSchema(side: 'input' | 'output', schema: StandardSchemaV1, fail: Fail): unknown {
  const { vendor } = schema['~standard']
  if (!tellsJsonSchema(schema)) {
    return fail(
      `${side} is a schema of ${vendor} that cannot be converted to JSON Schema, which callers need: wrap it in ` +
        `withJsonSchema(schema, { … })`,
    )
  }
  try {
    return schema['~standard'].jsonSchema[side]({ target: 'draft-2020-12' })
  } catch (error) {
    return fail(`${side} cannot be converted to JSON Schema by ${vendor}: ${String(error)}`)
  }
}

const tellsJsonSchema = (schema: object): schema is StandardJSONSchemaV1 =>
  '~standard' in schema && isObject(schema['~standard']) && 'jsonSchema' in schema['~standard']

const toPointer = (path: readonly (PropertyKey | StandardSchemaV1.PathSegment)[]): string =>
  path
    .map((segment) => String(typeof segment === 'object' ? segment.key : segment))
    .map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
