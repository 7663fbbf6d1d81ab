import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import type { JsonObject } from '@switchboard/protocol'
import type { AgentCard, Part } from 'a2a-sdk-03'
import { type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from 'a2a-sdk-03/server'
import { jsonRpcHandler, restHandler, UserBuilder } from 'a2a-sdk-03/server/express'
import { startHttpAgent } from './agent.js'

export interface OldAgentOptions {
  readonly execute: AgentExecutor['execute']
  readonly onCancel?: (task: string) => void
  /** Changes of the card. */
  readonly card?: Partial<AgentCard>
}

/** An agent built with the last SDK of A2A 0.3, over JSON-RPC and HTTP+JSON. */
export async function startOldA2aAgent({ execute, onCancel = () => {}, card: changes = {} }: OldAgentOptions) {
  const app = createMcpExpressApp()
  const agent = await startHttpAgent((request, response) => app(request, response))
  const interfaces = [
    { url: `${agent.url}rpc`, transport: 'JSONRPC' },
    { url: `${agent.url}rest`, transport: 'HTTP+JSON' },
  ]
  const card: AgentCard = {
    name: 'Echo',
    description: 'Says it again',
    version: '1.0.0',
    protocolVersion: '0.3.0',
    url: `${agent.url}rpc`,
    preferredTransport: 'JSONRPC',
    additionalInterfaces: interfaces,
    capabilities: { streaming: true },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json'],
    skills: [{ id: 'echo', name: 'Echo', description: 'Says it again', tags: ['echo'] }],
    ...changes,
  }
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), {
    execute,
    async cancelTask(taskId, bus) {
      onCancel(taskId)
      bus.publish({ kind: 'status-update', taskId, contextId: '', status: { state: 'canceled' }, final: true })
      bus.finished()
    },
  })
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication }
  app.use('/rpc', jsonRpcHandler(options))
  app.use('/rest', restHandler(options))
  return {
    ...agent,
    /** The card with one of the interfaces only. */
    cardFor(transport: 'JSONRPC' | 'HTTP+JSON'): JsonObject {
      const [only = { url: '' }] = interfaces.filter((each) => each.transport === transport)
      const single = { ...card, url: only.url, preferredTransport: transport, additionalInterfaces: [only] }
      return JSON.parse(JSON.stringify(single))
    },
  }
}

/** The parts of a message as pairs of kind and content. */
export const contentsOf = (parts: readonly Part[]): [string, unknown][] =>
  parts.map((part) => [part.kind, part.kind === 'text' ? part.text : part.kind === 'data' ? part.data : part.file])
