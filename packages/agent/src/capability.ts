import type { StandardSchemaV1 } from '@standard-schema/spec'
import { capabilityNameProblem, coerceVersion, createSchemaAllowance, type JsonObject } from '@switchboard/protocol'
import type { HandlerContext } from './call/handler-context.js'
import { AgentError } from './errors.js'
import type { HandlerInput, HandlerOutput, KeepLiterals, ReadonlyJson, Schema } from './schema/infer.js'
import { readSchema } from './schema/read-schema.js'

/** What callers may expect of the outputs (AURI §7). */
export interface Behaviour {
  /** Equal inputs produce equal outputs. */
  readonly isDeterministic?: boolean
  /** How much outputs vary, as a temperature or a word. */
  readonly expectedOutputVariability?: number | string
  readonly requiresContext?: boolean
  /** Calls with the same X-Session-ID share state. */
  readonly memoryEnabled?: boolean
  readonly responseLatency?: 'low' | 'medium' | 'high'
  /** Outputs come with a confidence, set with `context.report({ confidence })`. */
  readonly confidenceEstimation?: boolean
}

/**
 * A value, or its parts as they become available. A generator may also return the whole value, for callers that did not
 * ask for a stream; otherwise they get the list of parts.
 */
export type HandlerResult<T = ReadonlyJson> =
  | T
  | Promise<T>
  // biome-ignore lint/suspicious/noConfusingVoidType: what a generator without a return statement returns
  | AsyncIterable<ReadonlyJson, T | undefined | void>
  | KeepLiterals
  | Promise<KeepLiterals>

/** The options of a capability, without its schemas and its handler. */
interface CapabilityOptions extends Behaviour {
  readonly name: string
  readonly description?: string
  /** Default: the agent's version. */
  readonly version?: string
  readonly tags?: readonly string[]
  /** Requests in plain words that this capability can fulfil. */
  readonly examples?: readonly string[]
  /** Changes nothing, so GET works too. */
  readonly safe?: boolean
  /** Repeating a call does no harm. */
  readonly idempotent?: boolean
  /** Takes long: the response is always 202 with a task. */
  readonly deferred?: boolean
  /** The handler returns parts. Detected for generator functions. */
  readonly streaming?: boolean
  /** Scopes that a caller needs, all of them. */
  readonly scopes?: readonly string[]
  /** Milliseconds until the result or its next part. Default: 60 s, an hour for deferred work. */
  readonly timeoutMs?: number
  /** JSON media types besides application/json that callers may request the output as. */
  readonly outputFormats?: readonly string[]
}

/** One thing that the agent can do. The handler has the types of its schemas. */
export interface CapabilityDefinition<I = Schema, O = Schema> extends CapabilityOptions {
  /**
   * JSON Schema, a map such as `{ text: 'string', to: 'string?' }`, or a Standard Schema (Zod, Valibot). Default: any
   * object.
   */
  readonly input?: I
  /** Default: any JSON value. */
  readonly output?: O
  /** Called with inputs that match the schema. */
  readonly handler: (input: HandlerInput<I>, context: HandlerContext) => HandlerResult<HandlerOutput<O>>
}

/** A definition without the types of its handler, which the compiler has checked. */
export interface ErasedDefinition extends CapabilityOptions {
  readonly input?: Schema
  readonly output?: Schema
  handler(input: unknown, context: HandlerContext): HandlerResult<unknown>
}

/** A capability whose types the compiler has checked, in the form that lists of any length can hold. */
export class CheckedCapability {
  readonly name: string
  readonly #definition: ErasedDefinition

  constructor(definition: ErasedDefinition) {
    this.name = definition.name
    this.#definition = definition
  }

  static definitionOf(given: CheckedCapability | ErasedDefinition): ErasedDefinition {
    return #definition in given ? given.#definition : given
  }
}

/**
 * Defines a capability outside of `createAgent`; the handler's types are inferred from the schemas.
 *
 * @example
 * const greet = capability({
 *   name: 'greet',
 *   input: { name: 'string' },
 *   output: { text: 'string' },
 *   handler: ({ name }) => ({ text: `Hello, ${name}!` }),
 * })
 */
export const capability = <const I extends Schema, const O extends Schema>(
  definition: CapabilityDefinition<I, O>,
): CapabilityDefinition<I, O> & CheckedCapability => Object.assign(new CheckedCapability(definition), definition)

/** A capability that is ready to be called. */
export interface Capability extends CapabilityOptions {
  /** Runs the handler; the input has been validated. */
  perform(input: unknown, context: HandlerContext): HandlerResult<unknown>
  readonly description: string
  readonly version: string
  readonly tags: readonly string[]
  /** As published: JSON Schemas, or maps of names to types. */
  readonly input: JsonObject
  readonly output: JsonObject
  /** Standard Schemas that validate instead of `input` and `output`. */
  readonly standard: { readonly input?: StandardSchemaV1; readonly output?: StandardSchemaV1 }
  readonly streaming: boolean
}

/** Milliseconds; work that takes longer must be deferred, because proxies close silent connections. */
export const LONGEST_WAIT_MS = 300_000

const ANY_INPUT: JsonObject = { type: 'object' }

/** First segments of the kit's own paths. */
const RESERVED = new Set(['invoke', 'tasks', 'a2a', 'mcp', 'health', 'agent.json', '.well-known'])

/** Validates definitions. @throws {AgentError} `invalid_definition` with the reason */
export function readCapabilities(
  definitions: readonly (CheckedCapability | ErasedDefinition)[],
  defaults: { readonly description: string; readonly version: string; readonly tags: readonly string[] },
): Map<string, Capability> {
  const capabilities = new Map<string, Capability>()
  const allowance = createSchemaAllowance()
  for (const given of definitions) {
    const definition = CheckedCapability.definitionOf(given)
    const { name, input = ANY_INPUT, output = {} } = definition
    const fail = (why: string): never => {
      throw new AgentError('invalid_definition', `the capability ${JSON.stringify(name)} ${why}`)
    }
    const problem = capabilityNameProblem(name)
    if (problem !== undefined) fail(problem)
    const [first = ''] = name.split('/')
    if (RESERVED.has(first) || /^v\d/.test(first) || name.split('/').some((part) => /^\.{0,2}$/.test(part))) {
      fail('has a name that is reserved in URLs: choose another')
    }
    if (capabilities.has(name)) fail('is defined twice')
    if (definition.version !== undefined && coerceVersion(definition.version) === undefined) {
      fail(`has the version "${definition.version}", which is not a semantic version such as "1.0.0"`)
    }
    if (!definition.deferred && (definition.timeoutMs ?? 0) > LONGEST_WAIT_MS) {
      fail(`has a timeoutMs above ${LONGEST_WAIT_MS}, longer than connections are held open: make it deferred`)
    }
    const failSchema = (why: string): never => fail(`has a schema that cannot be used: ${why}`)
    const inputSchema = readSchema('input', input, allowance, failSchema)
    const outputSchema = readSchema('output', output, allowance, failSchema)
    const { handler: _handler, ...rest } = definition
    capabilities.set(name, {
      ...rest,
      perform: (value, context) => definition.handler(value, context),
      description: definition.description ?? defaults.description,
      version: definition.version ?? defaults.version,
      tags: definition.tags ?? defaults.tags,
      input: inputSchema.json,
      output: outputSchema.json,
      standard: {
        ...(inputSchema.standard && { input: inputSchema.standard }),
        ...(outputSchema.standard && { output: outputSchema.standard }),
      },
      streaming: definition.streaming ?? isGenerator(definition.handler),
    })
  }
  if (capabilities.size === 0)
    throw new AgentError('invalid_definition', 'an agent needs at least one capability (AURI §7)')
  return capabilities
}

const isGenerator = (handler: unknown): boolean =>
  typeof handler === 'function' && handler.constructor.name === 'AsyncGeneratorFunction'
