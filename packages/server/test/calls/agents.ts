import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestContext } from '@a2a-js/sdk/server'
import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { WebSocketServer } from 'ws'
import {
  AgentEvent,
  artifactUpdate,
  data,
  type Execute,
  message,
  received,
  startA2aAgent,
  statusUpdate,
  TaskState,
  task,
  text,
} from '../gateway/a2a-agent.js'
import { bodyOf, sendJson, startHttpAgent } from '../gateway/agent.js'
import { startMcpAgent } from '../gateway/mcp-agent.js'
import type { TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'

/**
 * The same agent in each protocol. The member `text` selects what it does: `parts` streams {"n":1} and {"n":2}, `hang`
 * streams {"n":0} and never ends, `wait` is deferred or never ends, `fail` is rejected with the message `no`, and any
 * other input is echoed.
 */
export interface SameAgent {
  register(directory: TestDirectory): Promise<void>
  /** Resolves when the work that started last has been cancelled. */
  stopped(): Promise<unknown>
  /** Number of calls that have started. */
  begun(): number
  close(): Promise<void>
}

/** What differs between protocols. */
export interface Differences {
  /** The parts of `parts`; agents that do not stream have one. */
  readonly parts: readonly JsonObject[]
  /** The first part of `hang`; undefined: there is none. */
  readonly begun?: JsonObject
  /** Status of `fail`. */
  readonly refusal: number
  /** The agent itself defers `wait`. */
  readonly defers?: boolean
}

export interface Protocol extends Differences {
  readonly start: (folder: string) => Promise<SameAgent>
}

const PLAIN: Differences = { parts: [{ n: 1 }, { n: 2 }], begun: { n: 0 }, refusal: 422 }
const NDJSON = { 'content-type': 'application/x-ndjson' }

/** The work that started last, and its cancellation. */
function createWork() {
  const events = new EventEmitter().setMaxListeners(0) // one per call, most of which end by themselves
  let stopped: Promise<unknown> = Promise.resolve()
  let begun = 0
  return {
    begin() {
      begun++
      stopped = once(events, 'stopped')
    },
    begun: () => begun,
    stop: () => events.emit('stopped'),
    stopped: () => stopped,
  }
}

async function post(directory: TestDirectory, endpoint: string, protocol: string): Promise<void> {
  const body = aidipAgent({ id: 'x', endpoint, bindings: [{ protocol, endpoint }] })
  const answer = await directory.post('/agents', { as: 'tokA', body })
  if (answer.status !== 201) throw new Error(answer.text)
}

async function load(directory: TestDirectory, document: JsonObject): Promise<void> {
  const { text: result } = await directory.post('/admin/import', { as: 'admin', raw: JSON.stringify(document) })
  if (!result.includes('"x"')) throw new Error(result)
}

async function startHttp(protocol: string, path?: string): Promise<SameAgent> {
  const work = createWork()
  const agent = await startHttpAgent(async (request: IncomingMessage, response: ServerResponse) => {
    const input = JSON.parse(await bodyOf(request))
    work.begin()
    response.once('close', () => !response.writableFinished && work.stop())
    if (input.text === 'wait') return
    if (input.text === 'hang') response.writeHead(200, NDJSON).write('{"n":0}\n')
    else if (input.text === 'parts') response.writeHead(200, NDJSON).end('{"n":1}\n{"n":2}\n')
    else if (input.text === 'fail') sendJson(response, { error: { code: 'Refused', message: 'no' } }, 422)
    else sendJson(response, input)
  }, path)
  return { register: (directory) => post(directory, agent.url, protocol), ...work, close: agent.close }
}

async function startWebSocket(): Promise<SameAgent> {
  const work = createWork()
  const server = createServer()
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => {
    socket.on('error', () => {})
    socket.on('message', (line) => {
      const { id, input, cancel } = JSON.parse(String(line))
      if (cancel) {
        work.stop()
        return
      }
      const send = (frame: JsonObject): void => socket.send(`${JSON.stringify({ id, ...frame })}\n`)
      work.begin()
      socket.once('close', () => work.stop())
      if (input.text === 'wait') return
      if (input.text === 'hang') send({ data: { n: 0 } })
      else if (input.text === 'parts')
        for (const frame of [{ data: { n: 1 } }, { data: { n: 2 } }, { done: true }]) send(frame)
      else if (input.text === 'fail') send({ error: { code: 'Refused', message: 'no', status: 422 } })
      else send({ result: input })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return {
    register: (directory) => post(directory, `ws://127.0.0.1:${port}/`, 'websocket'),
    ...work,
    async close() {
      for (const socket of sockets.clients) socket.terminate()
      await new Promise((done) => server.close(done))
    },
  }
}

async function startA2a(streaming: boolean): Promise<SameAgent> {
  const work = createWork()
  /** Deferred work: the SDK cancels it without calling the agent, because nothing is running. */
  let deferred: RequestContext | undefined
  const isCancelled = async ({ taskId, context }: RequestContext): Promise<boolean> =>
    (await agent.store.load(taskId, context))?.status?.state === TaskState.TASK_STATE_CANCELED
  const execute: Execute = async (context, publish) => {
    const { taskId, contextId } = context
    const word = wordOf(received(context))
    const begun = AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_WORKING))
    const end = (state: TaskState, parts?: Parameters<typeof statusUpdate>[2]): void =>
      publish(AgentEvent.statusUpdate(statusUpdate(taskId, state, parts, contextId)))
    const artifact = (value: JsonValue): void =>
      publish(AgentEvent.artifactUpdate(artifactUpdate(taskId, contextId, [data(value)])))
    work.begin()
    switch (word) {
      case 'wait':
        deferred = context
        publish(begun)
        return
      case 'hang':
        publish(begun)
        artifact({ n: 0 })
        await work.stopped()
        return
      case 'parts':
        publish(begun)
        for (const n of [1, 2]) artifact({ n })
        end(TaskState.TASK_STATE_COMPLETED)
        return
      case 'fail':
        publish(begun)
        end(TaskState.TASK_STATE_REJECTED, [text('no')])
        return
      default:
        publish(AgentEvent.message(message([data({ text: word })], contextId)))
    }
  }
  const agent = await startA2aAgent(execute, { streaming, onCancel: () => work.stop() })
  return {
    register: async (directory) => load(directory, { ...(await agent.cardOf('1.0')), id: 'x' }),
    ...work,
    async stopped() {
      if (deferred) while (!(await isCancelled(deferred))) await sleep(20)
      else await work.stopped()
    },
    close: agent.close,
  }
}

/** The member `text` of the only part, whose card says that it is JSON. */
function wordOf(parts: JsonValue): string {
  const [[, value] = []] = Array.isArray(parts) ? parts.map((part) => (Array.isArray(part) ? part : [])) : []
  return String(isObject(value) ? value.text : value)
}

async function startMcp(): Promise<SameAgent> {
  const work = createWork()
  const inputSchema = { type: 'object' as const, properties: { text: { type: 'string' } }, required: ['text'] }
  const agent = await startMcpAgent(
    async ({ args, token }, { signal, sendNotification }) => {
      work.begin()
      signal.addEventListener('abort', () => work.stop())
      const progress = async (n: number): Promise<void> => {
        if (token === undefined) return
        await sendNotification({ method: 'notifications/progress', params: { progressToken: token, progress: n } })
      }
      if (args.text === 'fail') return { content: [{ type: 'text', text: 'no' }], isError: true }
      if (args.text === 'hang') await progress(0)
      if (args.text === 'hang' || args.text === 'wait') await work.stopped()
      if (args.text === 'parts') for (const n of [1, 2]) await progress(n)
      return { content: [], structuredContent: args }
    },
    { tools: [[{ name: 'echo', description: 'Says it again', inputSchema }]] },
  )
  const server = { name: 'example/x', description: 'Says it again', version: '1.0.0', id: 'x' }
  return {
    register: (directory) => load(directory, { ...server, remotes: [{ type: 'streamable-http', url: agent.url }] }),
    ...work,
    close: agent.close,
  }
}

/** How the agent of each protocol is started, and how it differs. */
export const PROTOCOLS: Record<string, Protocol> = {
  'plain HTTP': { ...PLAIN, start: () => startHttp('https') },
  'a Unix socket': { ...PLAIN, start: (folder) => startHttp('unix', join(folder, 'same.sock')) },
  WebSocket: { ...PLAIN, start: startWebSocket },
  'A2A with streams': { ...PLAIN, defers: true, start: () => startA2a(true) },
  // Its artifact is the final result, and there are no parts before it.
  'A2A without streams': { parts: [{ n: 2 }], refusal: 422, start: () => startA2a(false) },
  // A tool has one result; events before it are progress.
  MCP: {
    parts: [{ progress: 1 }, { progress: 2 }, { text: 'parts' }],
    begun: { progress: 0 },
    refusal: 500,
    start: startMcp,
  },
}
