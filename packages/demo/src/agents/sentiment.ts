import { AgentCard, Message } from '@a2a-js/sdk'
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  type RequestContext,
  ServerCallContext,
  UnauthenticatedUser,
} from '@a2a-js/sdk/server'
import { asObjects, asString, isObject, type JsonObject } from '@switchboard/protocol'
import type { DemoServer } from '../demo-agent.js'
import { serve } from '../serve.js'

const POSITIVE =
  'amazing beautiful best clean delicious excellent fast friendly good great happy helpful love loved lovely nice perfect recommend wonderful'
const NEGATIVE =
  'angry awful bad boring broken cold dirty disappointed disappointing expensive hate horrible late poor rude sad slow terrible worst wrong'
const [positive, negative] = [POSITIVE, NEGATIVE].map((words) => new Set(words.split(' ')))

/** Counts words of praise and of complaint; "not" turns the next one around. */
function judge(text: string): { sentiment: 'positive' | 'negative' | 'neutral'; score: number } {
  let score = 0
  let turned = false
  for (const word of text.toLowerCase().match(/[\p{L}']+/gu) ?? []) {
    const value = positive?.has(word) ? 1 : negative?.has(word) ? -1 : 0
    score += turned ? -value : value
    if (value !== 0) turned = false
    if (/^(not|never|no|isn't|wasn't)$/.test(word)) turned = true
  }
  return { sentiment: score > 0 ? 'positive' : score < 0 ? 'negative' : 'neutral', score }
}

const toCard = (url: string): JsonObject => ({
  name: 'Sentiment',
  description: 'Says whether a review or a comment is positive, negative or neutral.',
  version: '1.0.0',
  capabilities: { streaming: false },
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['application/json'],
  skills: [
    {
      id: 'sentiment',
      name: 'Sentiment analysis',
      description: 'Judges the mood of a text: praise, complaint, or neither.',
      tags: ['demo', 'sentiment', 'reviews', 'text'],
      examples: ['is this review positive or negative?', 'are my customers happy?'],
    },
  ],
  supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
})

/** The text of a message: its text parts, or the member `text` of its data. */
function textOf({ userMessage }: RequestContext): string {
  const message = Message.toJSON(userMessage)
  const parts = asObjects(isObject(message) ? message.parts : [])
  return parts.map(({ text, data }) => asString(text) ?? (isObject(data) ? asString(data.text) : '') ?? '').join('\n')
}

/** An agent of other software: made with the A2A project's own SDK, and registered by its agent card. */
export async function startSentiment(): Promise<DemoServer> {
  let handle = async (_request: Request): Promise<Response> => new Response(null, { status: 503 })
  const { url, close } = await serve((request) => handle(request))
  const card = toCard(url)
  const rpc = new JsonRpcTransportHandler(
    new DefaultRequestHandler(AgentCard.fromJSON(card), new InMemoryTaskStore(), {
      async execute(context, bus) {
        const reply = { messageId: crypto.randomUUID(), role: 'ROLE_AGENT', parts: [{ data: judge(textOf(context)) }] }
        bus.publish(AgentEvent.message(Message.fromJSON({ ...reply, contextId: context.contextId })))
        bus.finished()
      },
      async cancelTask(_task, bus) {
        bus.finished() // there are no tasks: every message is answered at once
      },
    }),
  )
  handle = async (request) => {
    if (request.method !== 'POST') return Response.json(card)
    const context = new ServerCallContext({ user: new UnauthenticatedUser(), requestedVersion: '1.0' })
    return Response.json(await rpc.handle(await request.text(), context))
  }
  return { format: 'a2a', document: card, close }
}
