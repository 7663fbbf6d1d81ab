import { once } from 'node:events'
import { join } from 'node:path'
import type { JsonObject } from '@switchboard/protocol'
import { createAgent } from '../../../agent/src/index.js'
import {
  AgentEvent,
  DIALECTS,
  type Dialect,
  type Execute,
  startA2aAgent,
  TaskState,
  task,
} from '../gateway/a2a-agent.js'
import { startOldA2aAgent } from '../gateway/a2a-agent-03.js'
import { aidipAgent } from '../support/documents.js'

/** An agent that works until it is told to stop. */
export interface CancellableAgent {
  /** For POST /admin/import. */
  readonly document: JsonObject
  /** Calls that have started, and those that were told to stop. */
  readonly seen: { begun: number; stopped: number }
  close(): Promise<void>
}

type Start = (folder: string) => Promise<CancellableAgent>

/** With the SDK of A2A 1.0, which also serves 0.3. */
const startSdkAgent = async ({ version, binding }: Dialect, streaming: boolean): Promise<CancellableAgent> => {
  const seen = { begun: 0, stopped: 0 }
  const ends = new Map<string, () => void>()
  const execute: Execute = async ({ taskId, contextId }, publish) => {
    seen.begun++
    publish(AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_WORKING)))
    await new Promise<void>((resolve) => ends.set(taskId, resolve))
  }
  const onCancel = (id: string): void => {
    seen.stopped++
    ends.get(id)?.()
  }
  const agent = await startA2aAgent(execute, { streaming, onCancel })
  const card = await agent.cardOf(version)
  const { url, source = {} } = await agent.toEndpoint({ version, binding })
  const only =
    version === '1.0'
      ? { supportedInterfaces: [source] }
      : { url, preferredTransport: binding, additionalInterfaces: [], supportedInterfaces: undefined }
  const document = JSON.parse(JSON.stringify({ ...card, ...only, id: 'x' }))
  return { document, seen, close: agent.close }
}

/** With the last SDK of A2A 0.3. */
const startOldSdkAgent = async (binding: Dialect['binding']): Promise<CancellableAgent> => {
  const seen = { begun: 0, stopped: 0 }
  const ends = new Map<string, () => void>()
  const agent = await startOldA2aAgent({
    async execute({ taskId, contextId }, bus) {
      seen.begun++
      bus.publish({ kind: 'task', id: taskId, contextId, status: { state: 'working' } })
      await new Promise<void>((resolve) => ends.set(taskId, resolve))
    },
    onCancel(id) {
      seen.stopped++
      ends.get(id)?.()
    },
  })
  return { document: { ...agent.cardFor(binding), id: 'x' }, seen, close: agent.close }
}

/** With the agent kit, whose handler is told by its signal. */
const startKitAgent = async (protocol: string, folder: string): Promise<CancellableAgent> => {
  const seen = { begun: 0, stopped: 0 }
  const work = async (signal: AbortSignal): Promise<void> => {
    seen.begun++
    if (!signal.aborted) await once(signal, 'abort')
    seen.stopped++
    signal.throwIfAborted()
  }
  const agent = createAgent({
    name: 'worker',
    version: '1.0.0',
    description: 'Works until it is told to stop',
    onError: () => {},
    mcp: false,
    capabilities: [
      {
        name: 'work',
        description: 'Works',
        input: { type: 'object' },
        output: { type: 'object' },
        async *handler(_input, { signal }) {
          yield { n: 0 }
          await work(signal)
        },
      },
    ],
  })
  const socket = join(folder, 'kit.sock')
  const { url } = await agent.listen({ port: 0, ...(protocol === 'unix' && { socket }) })
  const endpoint =
    protocol === 'unix'
      ? `unix:${socket}:/work`
      : protocol === 'a2a'
        ? `${url}/a2a`
        : `${protocol === 'websocket' ? url?.replace('http', 'ws') : url}/work`
  const source = protocol === 'a2a' ? { protocolBinding: 'JSONRPC', protocolVersion: '1.0' } : {}
  const bindings = [{ protocol, endpoint, ...source }]
  const operations = [{ name: 'work', inputs: { type: 'object' }, outputs: { type: 'object' } }]
  return { document: aidipAgent({ id: 'x', endpoint, bindings, operations }), seen, close: () => agent.close() }
}

/** Agents of every dialect. Whether they stream says whether the caller gets a part before the end. */
export const CANCELLABLE: readonly (readonly [string, Start])[] = [
  ...DIALECTS.map(
    (dialect) => [`A2A ${dialect.version} over ${dialect.binding}`, () => startSdkAgent(dialect, true)] as const,
  ),
  ...DIALECTS.map(
    (dialect) =>
      [`A2A ${dialect.version} over ${dialect.binding} without streams`, () => startSdkAgent(dialect, false)] as const,
  ),
  ['A2A 0.3 over JSONRPC, with the SDK of that version', () => startOldSdkAgent('JSONRPC')],
  ['A2A 0.3 over HTTP+JSON, with the SDK of that version', () => startOldSdkAgent('HTTP+JSON')],
  ...['http', 'unix', 'websocket', 'a2a'].map(
    (protocol) => [`${protocol}, with the agent kit`, (folder: string) => startKitAgent(protocol, folder)] as const,
  ),
]
