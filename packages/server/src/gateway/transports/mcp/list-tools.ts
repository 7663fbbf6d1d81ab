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
import type { CancelSignal } from '../../../cancellation.js'
import { GatewayError } from '../../gateway.js'
import type { SendRequest } from '../../http/send-request.js'
import { createMcpClient, lastReply, type McpTarget } from './mcp-client.js'
import { openSession } from './open-session.js'

/** The same limit as for operations in a registered document. */
const MAX_TOOLS = 1000
const MAX_PAGES = 20
const MAX_PAGE_BYTES = 1 << 20
const MAX_PAGE_VALUES = 20_000

export interface ListToolsDeps {
  readonly sendRequest: SendRequest
  readonly newId: () => string
}

/** Lists the tools of a server as operations. Schemas that are invalid or too expensive are replaced by `object`. */
export async function listTools(
  { sendRequest, newId }: ListToolsDeps,
  { url, headers }: Omit<McpTarget, 'session'>,
  signal: CancelSignal,
): Promise<Operation[]> {
  const client = createMcpClient({
    sendRequest,
    maxBytes: MAX_PAGE_BYTES,
    maxPartBytes: MAX_PAGE_BYTES,
    maxValues: MAX_PAGE_VALUES,
  })
  const opened = await openSession({ client, newId }, { url, headers }, signal)
  if (opened.kind === 'failure') throw refused(opened.failure.status)
  const { session } = opened
  const target = { url, headers, session }
  const allowance = createSchemaAllowance()
  const operations: Operation[] = []
  try {
    let cursor: string | undefined
    for (let page = 0; page < MAX_PAGES && operations.length < MAX_TOOLS; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const response = await client.request(target, { id: newId(), method: 'tools/list', params }, signal)
      const reply = 'reply' in response ? response.reply : await lastReply(response)
      if (reply.kind !== 'result') throw refused(reply.failure.status)
      operations.push(...asObjects(reply.result.tools).flatMap((tool) => readTool(tool, allowance)))
      cursor = asString(reply.result.nextCursor)
      if (cursor === undefined) break
    }
    return operations.slice(0, MAX_TOOLS)
  } finally {
    if (session.id !== undefined) client.endSession(target)
  }
}

const refused = (status: number): GatewayError =>
  new GatewayError('bad_response', `the server did not list its tools (status ${status})`)

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
