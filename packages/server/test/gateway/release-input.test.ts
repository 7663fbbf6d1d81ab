import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { JsonObject } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { AgentCall, Endpoint, Gateway } from '../../src/gateway/gateway.js'
import { AgentEvent, artifactUpdate, DIALECTS, data, startA2aAgent, TaskState, task } from './a2a-agent.js'
import { callOf, createTestGateway, endpoint, startHttpAgent, startSocketAgent } from './agent.js'
import { startMcpAgent } from './mcp-agent.js'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0)) await thing.close()
})

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

function createStop(): { promise: Promise<void>; stop(): void } {
  let stop = (): void => {}
  const promise = new Promise<void>((resolve) => {
    stop = resolve
  })
  return { promise, stop: () => stop() }
}

/** Starts an agent that sends the first part of a stream and then nothing. */
type StartAgent = () => Promise<{ readonly target: Endpoint; close(): Promise<void> }>

const startA2a =
  (dialect: (typeof DIALECTS)[number]): StartAgent =>
  async () => {
    const stopped = createStop()
    const agent = await startA2aAgent(
      async ({ taskId, contextId }, publish) => {
        publish(AgentEvent.task(task(taskId, contextId, TaskState.TASK_STATE_WORKING)))
        publish(AgentEvent.artifactUpdate(artifactUpdate(taskId, contextId, [data({ n: 1 })])))
        await stopped.promise
      },
      { streaming: true },
    )
    const close = async (): Promise<void> => {
      stopped.stop()
      await agent.close()
    }
    return { target: await agent.toEndpoint(dialect), close }
  }

const AGENTS: [string, StartAgent][] = [
  [
    'plain HTTP',
    async () => {
      const agent = await startHttpAgent((request, response) => {
        request.resume()
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"n":1}\n\n')
      })
      return { target: endpoint(agent.url), close: agent.close }
    },
  ],
  [
    'WebSocket',
    async () => {
      const agent = await startSocketAgent((_, send) => send('{"id":"1","data":{"n":1}}\n'))
      return { target: endpoint(agent.url, 'websocket'), close: agent.close }
    },
  ],
  [
    'MCP',
    async () => {
      const stopped = createStop()
      const agent = await startMcpAgent(async ({ token }, { sendNotification }) => {
        if (token !== undefined)
          await sendNotification({ method: 'notifications/progress', params: { progressToken: token, progress: 1 } })
        await stopped.promise
        return { content: [] }
      })
      const close = async (): Promise<void> => {
        stopped.stop()
        await agent.close()
      }
      return { target: { protocol: 'mcp', url: agent.url }, close }
    },
  ],
  ...DIALECTS.map((dialect): [string, StartAgent] => [
    `A2A ${dialect.version} over ${dialect.binding}`,
    startA2a(dialect),
  ]),
]

/** Calls with an input that only the gateway knows afterwards; resolves when the first part has arrived. */
async function begin(
  gateway: Gateway,
  target: Endpoint,
): Promise<{ input: WeakRef<JsonObject>; parts: AsyncIterator<unknown> }> {
  const value: JsonObject = { text: 'hi', large: ['x'] }
  const changes: Partial<AgentCall> = { payload: { kind: 'json', value }, wantsStream: true, timeoutMs: 30_000 }
  const answer = await gateway.call(callOf(target, changes))
  if (answer.kind !== 'stream') throw new Error(`no stream but ${answer.kind}`)
  const parts = answer.batches[Symbol.asyncIterator]()
  await parts.next()
  return { input: new WeakRef(value), parts }
}

describe('the gateway releases an input once it has been sent, while the response is still streamed', () => {
  it.each(AGENTS)('towards an agent of %s', async (_, start) => {
    const { target, close } = await start()
    const gateway = createTestGateway()
    open.push({ close }, gateway)
    const { input, parts } = await begin(gateway, target)
    await expect
      .poll(
        () => {
          collectGarbage()
          // Not the value itself, which the failed attempt would keep.
          return input.deref() === undefined
        },
        { timeout: 10_000 },
      )
      .toBe(true)
    await parts.return?.()
  })
})
