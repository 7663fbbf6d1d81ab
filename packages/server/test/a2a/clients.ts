import { type Message, Role, type StreamResponse, type Task } from '@a2a-js/sdk'
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client'
import {
  ClientFactory as ClientFactory03,
  ClientFactoryOptions as ClientFactoryOptions03,
  DefaultAgentCardResolver as DefaultAgentCardResolver03,
  JsonRpcTransportFactory as JsonRpcTransportFactory03,
} from 'a2a-sdk-03/client'

const withKey =
  (key: string | undefined): typeof fetch =>
  (input, init) => {
    const headers = new Headers(init?.headers)
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
    return fetch(input, { ...init, headers })
  }

/** The official client of A2A 1.0, created from nothing but the URL of a card. */
export const connect = (card: string, key?: string) => {
  const fetchImpl = withKey(key)
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
  })
  return new ClientFactory(options).createFromUrl(card, '')
}

/** The official client of A2A 0.3, of the last release for that version. */
export const connect03 = (card: string, key?: string) => {
  const fetchImpl = withKey(key)
  const options = ClientFactoryOptions03.createFrom(ClientFactoryOptions03.default, {
    cardResolver: new DefaultAgentCardResolver03({ fetchImpl }),
    transports: [new JsonRpcTransportFactory03({ fetchImpl })],
  })
  return new ClientFactory03(options).createFromUrl(card, '')
}

/** A message of A2A 1.0: text, or data for anything else. */
export const say = (
  value: unknown,
  { skill, ...more }: { skill?: string; returnImmediately?: boolean; taskId?: string } = {},
) => ({
  tenant: '',
  configuration: {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    returnImmediately: more.returnImmediately === true,
  },
  metadata: {},
  message: {
    messageId: crypto.randomUUID(),
    contextId: '',
    taskId: more.taskId ?? '',
    role: Role.ROLE_USER,
    parts: [
      {
        content: typeof value === 'string' ? { $case: 'text' as const, value } : { $case: 'data' as const, value },
        metadata: {},
        filename: '',
        mediaType: '',
      },
    ],
    metadata: skill === undefined ? {} : { skillId: skill },
    extensions: [],
    referenceTaskIds: [],
  },
})

/** A message of A2A 0.3. */
export const say03 = (text: string, blocking = true) => ({
  configuration: { blocking },
  message: {
    kind: 'message' as const,
    messageId: crypto.randomUUID(),
    role: 'user' as const,
    parts: [{ kind: 'text' as const, text }],
  },
})

export function taskOf(reply: Message | Task): Task {
  if ('messageId' in reply) throw new Error('expected a task, not a message')
  return reply
}

/** The values of the parts of a message, or of the artifacts of a task. */
export const outputOf = (reply: Message | Task): unknown[] =>
  ('messageId' in reply ? reply.parts : reply.artifacts.flatMap(({ parts }) => parts)).map(
    ({ content }) => content?.value,
  )

/** A stream as short texts: the kind of each event and what it carries. */
export async function eventsOf(stream: AsyncIterable<StreamResponse>, onEvent?: (event: StreamResponse) => unknown) {
  const seen: unknown[] = []
  for await (const event of stream) {
    const { payload } = event
    if (payload?.$case === 'artifactUpdate')
      seen.push(payload.value.artifact?.parts.map(({ content }) => content?.value))
    else if (payload?.$case === 'message') seen.push(outputOf(payload.value))
    else if (payload) seen.push(payload.value.status?.state)
    await onEvent?.(event)
  }
  return seen
}
