import { fromJsonSchema } from '@modelcontextprotocol/server'
import type { JsonObject } from '@switchboard/protocol'

const text = (description: string): JsonObject => ({ type: 'string', minLength: 1, description })
const texts = (description: string): JsonObject => ({ type: 'array', items: { type: 'string' }, description })
const count = (fallback: number): JsonObject => ({
  type: 'integer',
  minimum: 1,
  maximum: 50,
  description: `how many agents at most; default: ${fallback}`,
})
const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const open = { type: 'object' }
const listOf = (item: JsonObject): JsonObject => ({ type: 'array', items: item })

/** The arguments of `find_agents`. */
export interface FindAgents {
  readonly task: string
  readonly tags?: string[]
  readonly protocols?: string[]
  readonly top?: number
}

/** The arguments of `lookup_agents`. */
export interface LookupAgents {
  readonly agent?: string
  readonly capability?: string
  readonly capability_type?: string
  readonly tag?: string
  readonly protocol?: string
  readonly top?: number
}

/** The arguments of `get_agent`. */
export interface GetAgent {
  readonly agent: string
}

/** The arguments of `resolve_intent`. */
export interface ResolveIntent {
  readonly intent: string
  readonly context?: JsonObject
  readonly policy?: JsonObject
  readonly top?: number
}

/** The arguments of `invoke_agent`. */
export interface InvokeAgent {
  readonly agent: string
  readonly operation?: string
  readonly input: JsonObject
  readonly version?: string
  readonly search_id?: string
}

/** How many agents a tool lists unless the caller says otherwise. */
export const DEFAULT_TOP = 5
export const DEFAULT_LOOKUP_TOP = 20

const found = object({
  agents: listOf({
    type: 'object',
    required: ['id', 'description'],
    properties: { id: { type: 'string' }, description: { type: 'string' } },
  }),
  warnings: listOf({ type: 'string' }),
  search_id: { type: 'string' },
})

/** The input and output schemas of the tools, compiled once. */
export const SCHEMAS = {
  findAgents: fromJsonSchema<FindAgents>(
    object(
      {
        task: text('what the agent should do, in plain words and in any language'),
        tags: texts('tags that the agent must have, all of them'),
        protocols: texts('protocols of which the agent must speak one, such as https, a2a or mcp'),
        top: count(DEFAULT_TOP),
      },
      ['task'],
    ),
  ),
  lookupAgents: fromJsonSchema<LookupAgents>(
    object({
      agent: text('id of the agent; may end with *'),
      capability: text('name of a capability; may end with *'),
      capability_type: text('type of a capability, such as tool'),
      tag: text('a tag that the agent has'),
      protocol: text('a protocol that the agent speaks, such as mcp'),
      top: count(DEFAULT_LOOKUP_TOP),
    }),
  ),
  getAgent: fromJsonSchema<GetAgent>(object({ agent: text('id of the agent') }, ['agent'])),
  resolveIntent: fromJsonSchema<ResolveIntent>(
    object(
      {
        intent: text('the task, in plain words'),
        context: { ...open, description: 'what is known about the task' },
        policy: { ...open, description: 'requirements, such as require_verified, protocols or max_cost' },
        top: count(DEFAULT_TOP),
      },
      ['intent'],
    ),
  ),
  invokeAgent: fromJsonSchema<InvokeAgent>(
    object(
      {
        agent: text('id of the agent'),
        operation: text('the operation to call; needed if the agent has several'),
        input: { ...open, description: "the input, as the operation's schema in get_agent says" },
        version: text('version of the agent, such as ^3.0.0'),
        search_id: text('from find_agents, if it found the agent: the directory learns which agents suit which tasks'),
      },
      ['agent', 'input'],
    ),
  ),
  found: fromJsonSchema(found),
  agent: fromJsonSchema(object({ agent: open }, ['agent'])),
  candidates: fromJsonSchema(object({ candidates: listOf(open) }, ['candidates'])),
  output: fromJsonSchema(object({ output: {} }, ['output'])),
}
