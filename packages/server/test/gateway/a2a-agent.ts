import type { AgentCard, Message, Part, Task } from '@a2a-js/sdk'
import { Role, TaskState } from '@a2a-js/sdk'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server'
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { isObject, type JsonObject, type JsonValue, parseJson, readRecord } from '@switchboard/protocol'
import type { Endpoint } from '../../src/gateway/gateway.js'
import { startHttpAgent } from './agent.js'

/** The supported versions and bindings of A2A. */
export const DIALECTS = [
  { version: '0.3', binding: 'JSONRPC' },
  { version: '0.3', binding: 'HTTP+JSON' },
  { version: '1.0', binding: 'JSONRPC' },
  { version: '1.0', binding: 'HTTP+JSON' },
] as const
export type Dialect = (typeof DIALECTS)[number]

export type Publish = Parameters<AgentExecutor['execute']>[1]['publish']
export type Execute = (context: RequestContext, publish: Publish) => Promise<void> | void

/** An agent built with the official SDK: both versions, both bindings, and its card. */
export async function startA2aAgent(
  execute: Execute,
  { streaming = true, onCancel = () => {} }: { streaming?: boolean; onCancel?: (task: string) => void } = {},
) {
  const app = createMcpExpressApp()
  const seen: Record<string, unknown>[] = []
  app.use((request: { headers: Record<string, unknown> }, _: unknown, next: () => void) => {
    seen.push(request.headers)
    next()
  })
  const agent = await startHttpAgent((request, response) => app(request, response))
  const card: AgentCard = {
    name: 'Echo',
    description: 'Says it again',
    version: '1.0.0',
    provider: undefined,
    documentationUrl: undefined,
    iconUrl: undefined,
    capabilities: { streaming, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [
      {
        id: 'echo',
        name: 'Echo',
        description: 'Says it again',
        tags: ['echo'],
        examples: [],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    signatures: [],
    supportedInterfaces: DIALECTS.map(({ version, binding }) => ({
      url: `${agent.url}${binding === 'JSONRPC' ? 'rpc' : 'rest'}`,
      protocolBinding: binding,
      protocolVersion: version,
      tenant: '',
    })),
  }
  const store = new InMemoryTaskStore()
  const requestHandler = new DefaultRequestHandler(card, store, {
    async execute(context, bus) {
      await execute(context, (event) => bus.publish(event))
      bus.finished()
    },
    async cancelTask(task, bus) {
      onCancel(task)
      bus.publish(AgentEvent.statusUpdate(statusUpdate(task, TaskState.TASK_STATE_CANCELED)))
      bus.finished()
    },
  })
  const options = {
    requestHandler,
    userBuilder: UserBuilder.noAuthentication,
    legacyCompat: { enabled: true },
  }
  app.use(
    '/.well-known/agent-card.json',
    agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: { enabled: true } }),
  )
  app.use('/rpc', jsonRpcHandler(options))
  app.use('/rest', restHandler(options))

  /** The card as the SDK writes it for that version. */
  const cardOf = async (version: string): Promise<JsonObject> => {
    const response = await fetch(`${agent.url}.well-known/agent-card.json`, { headers: { 'a2a-version': version } })
    const card = parseJson(await response.text())
    if (!isObject(card)) throw new Error('the card is no object')
    return card
  }
  return {
    ...agent,
    seen,
    store,
    cardOf,
    /** As the directory reads it from the card. */
    async toEndpoint({ version, binding }: Dialect): Promise<Endpoint> {
      const { bindings } = readRecord('a2a', await cardOf(version), 'echo')
      const found = bindings.find(
        ({ source }) =>
          (source?.protocolBinding ?? source?.transport) === binding &&
          String(source?.protocolVersion ?? '0.3').startsWith(version),
      )
      if (!found) throw new Error(`the card has no ${binding} ${version}: ${JSON.stringify(bindings)}`)
      return { protocol: 'a2a', url: found.endpoint, ...(found.source && { source: found.source }) }
    },
  }
}

const part = (content: Part['content'], mediaType = '', filename = ''): Part => ({
  content,
  metadata: undefined,
  mediaType,
  filename,
})
export const text = (value: string): Part => part({ $case: 'text', value })
export const data = (value: JsonValue): Part => part({ $case: 'data', value })
export const url = (value: string): Part => part({ $case: 'url', value }, 'image/png', 'a.png')
export const raw = (value: string): Part => part({ $case: 'raw', value: Buffer.from(value) }, 'text/plain')

export const message = (parts: Part[], contextId = ''): Message => ({
  messageId: 'm1',
  contextId,
  taskId: '',
  role: Role.ROLE_AGENT,
  parts,
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
})

export const task = (id: string, contextId: string, state: TaskState, note?: Part[], artifacts?: Part[]): Task => ({
  id,
  contextId,
  status: { state, message: note && message(note, contextId), timestamp: undefined },
  artifacts: artifacts ? [artifact(artifacts)] : [],
  history: [],
  metadata: undefined,
})

export const artifact = (parts: Part[], artifactId = 'a1') => ({
  artifactId,
  name: '',
  description: '',
  parts,
  metadata: undefined,
  extensions: [],
})

export const statusUpdate = (taskId: string, state: TaskState, note?: Part[], contextId = '') => ({
  taskId,
  contextId,
  status: { state, message: note && message(note, contextId), timestamp: undefined },
  metadata: undefined,
})

export const artifactUpdate = (taskId: string, contextId: string, parts: Part[], append = false) => ({
  taskId,
  contextId,
  artifact: artifact(parts),
  append,
  lastChunk: false,
  metadata: undefined,
})

/** The parts of the caller's message, as the agent received them. */
export const received = ({ userMessage }: RequestContext): JsonValue =>
  userMessage.parts.map(({ content }) => [content?.$case ?? '', contentValue(content?.value)])

function contentValue(value: unknown): JsonValue {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : JSON.parse(JSON.stringify(value ?? null))
}

export { AgentEvent, TaskState }
