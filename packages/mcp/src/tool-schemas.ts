import { fromJsonSchema, type jsonSchemaValidator, type StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { compileSchema, invalid, type JsonObject, type JsonValue } from '@switchboard/protocol'

const text = (description: string): JsonObject => ({ type: 'string', minLength: 1, description })
const texts = (description: string): JsonObject => ({ type: 'array', items: { type: 'string' }, description })
const count = (what: string, fallback: number, maximum: number): JsonObject => ({
  type: 'integer',
  minimum: 1,
  maximum,
  description: `how many ${what} at most; default: ${fallback}`,
})
const object = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
/** An object that may have further members: those that its publisher added. */
const open = (properties: JsonObject = {}, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
})
const listOf = (item: JsonObject, description?: string): JsonObject => ({
  type: 'array',
  items: item,
  ...(description !== undefined && { description }),
})
const string: JsonObject = { type: 'string' }
const number: JsonObject = { type: 'number' }

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

/** The arguments of `list_capabilities`. */
export interface ListCapabilities {
  readonly task?: string
  readonly tags?: string[]
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

/** How many agents or values a tool lists unless the caller says otherwise, and at most. */
export const DEFAULT_TOP = 5
export const DEFAULT_LOOKUP_TOP = 20
export const DEFAULT_VALUES = 30
const MAX_AGENTS = 50
const MAX_VALUES = 100

/** The members of an agent that an assistant needs to choose and call it; `get_agent` leaves out all others. */
export const AGENT_MEMBERS: JsonObject = {
  id: string,
  name: string,
  description: string,
  version: string,
  publisher: string,
  status: string,
  tags: listOf(string),
  capabilities: listOf(string),
  protocols: listOf(string),
  supported_languages: listOf(string),
  operations: listOf(
    open({ name: string, description: string }, ['name']),
    'what the agent can do, with the schemas of `inputs` and `outputs`',
  ),
  inputs: { ...open(), description: 'of an agent with a single operation, which has no name' },
  outputs: open(),
  input_schema: open(),
  output_schema: open(),
  authentication: { description: 'the credentials that the agent needs' },
  verification: open(),
}

const found = (agent: JsonObject): JsonObject =>
  object({ agents: listOf(agent), warnings: listOf(string), search_id: string }, ['agents', 'warnings'])

const counted = (description: string): JsonObject =>
  listOf(object({ name: string, agents: { type: 'integer', minimum: 0 } }, ['name', 'agents']), description)

const candidate = open(
  {
    id: string,
    name: string,
    description: string,
    score: number,
    endpoints: listOf(open({ protocol: string, endpoint: string })),
    invocation: open({
      method: string,
      url: string,
      content_type: string,
      authentication: open({ type: string }),
      operations: listOf(
        open({ name: string, description: string, input_schema: {}, output_schema: {} }, ['name', 'input_schema']),
      ),
    }),
    verification: open(),
  },
  ['id', 'invocation'],
)

/** Checks as the directory does. The SDK's own validator takes a tenth of a second to compile these schemas. */
const validator: jsonSchemaValidator = {
  getValidator<T>(schema: object) {
    const check = compileSchema(schema as JsonObject)
    return (input) => {
      const issues = check(input as JsonValue)
      return issues.length === 0
        ? { valid: true, data: input as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: invalid(issues).message }
    }
  },
}
const checked = <T = unknown>(schema: JsonObject): StandardSchemaWithJSON<T, T> => fromJsonSchema<T>(schema, validator)

/** The input and output schemas of the tools. */
export const SCHEMAS = {
  findAgents: checked<FindAgents>(
    object(
      {
        task: text('what the agent should do, in plain words and in any language'),
        tags: texts('tags that the agent must have, all of them'),
        protocols: texts('protocols of which the agent must speak one, such as https, a2a or mcp'),
        top: count('agents', DEFAULT_TOP, MAX_AGENTS),
      },
      ['task'],
    ),
  ),
  lookupAgents: checked<LookupAgents>(
    object({
      agent: text('id of the agent; may end with *'),
      capability: text('name of a capability; may end with *'),
      capability_type: text('type of a capability, such as tool'),
      tag: text('a tag that the agent has'),
      protocol: text('a protocol that the agent speaks, such as mcp'),
      top: count('agents', DEFAULT_LOOKUP_TOP, MAX_AGENTS),
    }),
  ),
  listCapabilities: checked<ListCapabilities>(
    object({
      task: text('count only agents that fit this task, in plain words'),
      tags: texts('count only agents with these tags, all of them'),
      protocol: text('count only agents that speak this protocol, such as mcp'),
      top: count('capabilities, and how many tags,', DEFAULT_VALUES, MAX_VALUES),
    }),
  ),
  getAgent: checked<GetAgent>(object({ agent: text('id of the agent') }, ['agent'])),
  resolveIntent: checked<ResolveIntent>(
    object(
      {
        intent: text('the task, in plain words'),
        context: { ...open(), description: 'what is known about the task' },
        policy: { ...open(), description: 'requirements, such as require_verified, protocols or max_cost' },
        top: count('agents', DEFAULT_TOP, MAX_AGENTS),
      },
      ['intent'],
    ),
  ),
  invokeAgent: checked<InvokeAgent>(
    object(
      {
        agent: text('id of the agent'),
        operation: text('the operation to call; needed if the agent has several'),
        input: { ...open(), description: "the input, as the operation's schema in get_agent says" },
        version: text('version of the agent, such as ^3.0.0'),
        search_id: text('from find_agents, if it found the agent: the directory learns which agents suit which tasks'),
      },
      ['agent', 'input'],
    ),
  ),
  found: checked(
    found(
      object(
        {
          id: string,
          name: string,
          description: string,
          tags: listOf(string),
          protocols: listOf(string),
          score: { type: 'number', minimum: 0, maximum: 1 },
        },
        ['id', 'name', 'description', 'tags', 'protocols'],
      ),
    ),
  ),
  lookedUp: checked(
    found(
      object({ id: string, description: string, protocols: listOf(string), capabilities: listOf(string) }, [
        'id',
        'description',
        'protocols',
        'capabilities',
      ]),
    ),
  ),
  capabilities: checked(
    object(
      {
        agents: { type: 'integer', minimum: 0, description: 'how many agents match' },
        capabilities: counted('the most frequent capabilities, and how many of the agents have each'),
        tags: counted('the same for tags'),
        warnings: listOf(string),
      },
      ['agents', 'capabilities', 'tags', 'warnings'],
    ),
  ),
  agent: checked(object({ agent: object(AGENT_MEMBERS, ['id']) }, ['agent'])),
  candidates: checked(object({ candidates: listOf(candidate) }, ['candidates'])),
  output: checked(object({ output: { description: 'what the agent returned' } }, ['output'])),
}
