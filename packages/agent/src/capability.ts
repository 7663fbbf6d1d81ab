import {
  capabilityNameProblem,
  checkPublisherSchema,
  coerceVersion,
  createSchemaAllowance,
  type JsonObject,
  type JsonValue,
} from '@switchboard/protocol'
import type { HandlerContext } from './call/handler-context.js'
import { AgentError } from './errors.js'

/** What callers may expect of the answers (AURI §7). */
export interface Behaviour {
  /** Equal inputs give equal outputs. */
  readonly isDeterministic?: boolean
  /** How much answers differ, as a temperature or a word. */
  readonly expectedOutputVariability?: number | string
  readonly requiresContext?: boolean
  /** Calls with the same X-Session-ID remember each other. */
  readonly memoryEnabled?: boolean
  readonly responseLatency?: 'low' | 'medium' | 'high'
  /** Answers say how sure they are, by `context.report({ confidence })`. */
  readonly confidenceEstimation?: boolean
}

/**
 * A value, or its parts as they come. A generator may also return the whole, for callers who did not ask for a stream;
 * otherwise those get the list of parts.
 */
export type HandlerResult = JsonValue | Promise<JsonValue> | AsyncIterable<JsonValue>

/** One thing that the agent can do. */
export interface CapabilityDefinition extends Behaviour {
  readonly name: string
  readonly description?: string
  /** The agent's own unless told. */
  readonly version?: string
  readonly tags?: readonly string[]
  /** Sentences that this capability is the answer to. */
  readonly examples?: readonly string[]
  /** JSON Schema, or a map of names to types such as `{ text: 'string', to: 'string?' }`; any object unless told. */
  readonly input?: JsonObject
  readonly output?: JsonObject
  /** The input has passed its schema. Annotate it as you need: `handler: ({ text }: { text: string }) => …`. */
  handler(input: JsonObject, context: HandlerContext): HandlerResult
  /** Changes nothing: it may be asked for with GET too. */
  readonly safe?: boolean
  /** Doing it twice does no harm. */
  readonly idempotent?: boolean
  /** Takes long: always answered with 202 and a task. */
  readonly deferred?: boolean
  /** Gives parts; found out by itself for generator functions. */
  readonly streaming?: boolean
  /** Scopes that a caller must have, all of them. */
  readonly scopes?: readonly string[]
  /** Milliseconds until the answer, or the next part of it; 60 seconds unless told, an hour for deferred work. */
  readonly timeoutMs?: number
  /** JSON media types beside application/json that the output may be asked for as. */
  readonly outputFormats?: readonly string[]
}

/** A capability that is ready to be called. */
export interface Capability extends Omit<CapabilityDefinition, 'handler'> {
  /** The handler; that the input is what it was written for, its schema has made sure. */
  perform(input: JsonValue, context: HandlerContext): HandlerResult
  readonly description: string
  readonly version: string
  readonly tags: readonly string[]
  readonly input: JsonObject
  readonly output: JsonObject
  readonly streaming: boolean
}

/** Milliseconds that a caller may wait on a silent connection; work that takes longer is deferred. */
export const LONGEST_WAIT_MS = 300_000

const ANY_INPUT: JsonObject = { type: 'object' }

/** First segments of the paths that the kit itself answers. */
const RESERVED = new Set(['invoke', 'tasks', 'a2a', 'mcp', 'health', 'agent.json', '.well-known'])

/** Reads definitions; what callers could not use is refused here, once, with the reason. */
export function readCapabilities(
  definitions: readonly CapabilityDefinition[],
  defaults: { readonly description: string; readonly version: string; readonly tags: readonly string[] },
): Map<string, Capability> {
  const capabilities = new Map<string, Capability>()
  const allowance = createSchemaAllowance()
  for (const definition of definitions) {
    const { name, input = ANY_INPUT, output = {} } = definition
    const fail = (why: string): never => {
      throw new AgentError('invalid_definition', `the capability ${JSON.stringify(name)} ${why}`)
    }
    const problem = capabilityNameProblem(name)
    if (problem !== undefined) fail(problem)
    const [first = ''] = name.split('/')
    if (RESERVED.has(first) || /^v\d/.test(first) || name.split('/').some((part) => /^\.{0,2}$/.test(part))) {
      fail('has a name that stands for something else in URLs: choose another')
    }
    if (capabilities.has(name)) fail('is there twice')
    if (definition.version !== undefined && coerceVersion(definition.version) === undefined) {
      fail(`has the version "${definition.version}", which is no semantic version such as "1.0.0"`)
    }
    if (!definition.deferred && (definition.timeoutMs ?? 0) > LONGEST_WAIT_MS) {
      fail('takes longer than a connection is held open: make it deferred')
    }
    for (const [side, schema] of Object.entries({ input, output })) {
      const [issue] = checkPublisherSchema(schema, `/${side}`, allowance)
      if (issue) fail(`has a schema that cannot be used: ${issue.at} ${issue.message}`)
    }
    const { handler: _handler, ...rest } = definition
    capabilities.set(name, {
      ...rest,
      perform: (value: JsonObject, context: HandlerContext) => definition.handler(value, context),
      description: definition.description ?? defaults.description,
      version: definition.version ?? defaults.version,
      tags: definition.tags ?? defaults.tags,
      input,
      output,
      streaming: definition.streaming ?? isGenerator(definition.handler),
    })
  }
  if (capabilities.size === 0)
    throw new AgentError('invalid_definition', 'an agent needs at least one capability (AURI §7)')
  return capabilities
}

const isGenerator = (handler: unknown): boolean =>
  typeof handler === 'function' && handler.constructor.name === 'AsyncGeneratorFunction'
