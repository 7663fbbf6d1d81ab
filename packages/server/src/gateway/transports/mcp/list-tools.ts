import {
  asObjects,
  asString,
  checkPublisherSchema,
  createSchemaAllowance,
  isObject,
  type JsonValue,
  type Operation,
  type SchemaAllowance,
} from '@switchboard/protocol'
import { GatewayError } from '../../gateway.js'
import type { Ask } from '../rpc/ask.js'
import { createMcpDialogue, type McpPlace, replyOf } from './dialogue.js'
import { openSession } from './open-session.js'

/** As many operations as a registered document may have. */
const MAX_TOOLS = 1000
const MAX_PAGES = 20
const MAX_PAGE_BYTES = 1 << 20

export interface ListToolsDeps {
  readonly ask: Ask
  readonly newId: () => string
}

/** The tools of a server as operations. A schema that is too costly or not valid is left out: the tool checks itself. */
export async function listTools(
  { ask, newId }: ListToolsDeps,
  { endpoint, headers }: Omit<McpPlace, 'session'>,
  signal: AbortSignal,
): Promise<Operation[]> {
  const dialogue = createMcpDialogue({ ask, maxBytes: MAX_PAGE_BYTES, maxPartBytes: MAX_PAGE_BYTES })
  const opened = await openSession(dialogue, { endpoint, headers }, newId(), signal)
  if (opened.kind === 'failure') throw refused(opened.failure.status)
  const { session } = opened
  const place = { endpoint, headers, session }
  const allowance = createSchemaAllowance()
  const operations: Operation[] = []
  try {
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES && operations.length < MAX_TOOLS; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const said = await dialogue.request(place, { id: newId(), method: 'tools/list', params }, signal)
      const reply = 'reply' in said ? said.reply : await replyOf(said)
      if (reply.kind !== 'result') throw refused(reply.failure.status)
      operations.push(...asObjects(reply.result.tools).flatMap((tool) => readTool(tool, allowance)))
      cursor = asString(reply.result.nextCursor)
      if (cursor === undefined) break
    }
    return operations.slice(0, MAX_TOOLS)
  } finally {
    if (session.id !== undefined) dialogue.leave(place)
  }
}

const refused = (status: number): GatewayError =>
  new GatewayError('bad_response', `the server does not tell its tools (status ${status})`)

function readTool(tool: Record<string, JsonValue>, allowance: SchemaAllowance): Operation[] {
  const name = asString(tool.name)
  if (!name) return []
  const description = asString(tool.description) ?? asString(tool.title)
  const usable = (schema: JsonValue | undefined) =>
    isObject(schema) && checkPublisherSchema(schema, '', allowance).length === 0 ? schema : { type: 'object' }
  return [
    {
      name,
      ...(description !== undefined && { description }),
      inputs: usable(tool.inputSchema),
      outputs: usable(tool.outputSchema),
    },
  ]
}
