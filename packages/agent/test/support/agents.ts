import { generateKeyPairSync } from 'node:crypto'
import type { JsonObject, JsonValue, SigningKey } from '@switchboard/protocol'
import {
  type Agent,
  type AgentOptions,
  type CapabilityDefinition,
  capability,
  createAgent,
  type HandlerContext,
  type HandlerResult,
} from '../../src/index.js'

/** A listening agent and its address. */
export interface RunningAgent {
  readonly agent: Agent
  readonly url: string
  readonly host: string
}

const open = new Set<{ close(): Promise<void> }>()

/** Closes everything that the test has started. */
export async function closeAll(): Promise<void> {
  const all = [...open]
  open.clear()
  await Promise.all(all.map((one) => one.close()))
}

/** Registers something to be closed after the test. */
export function track<T extends { close(): Promise<void> }>(one: T): T {
  open.add(one)
  return one
}

/** A capability whose handler may declare any input type; the types themselves are tested in types.test-d.ts. */
export interface LooseCapability extends Omit<CapabilityDefinition<JsonObject, JsonObject>, 'handler'> {
  handler(input: unknown, context: HandlerContext): HandlerResult
}

export interface TestOptions extends Partial<Omit<AgentOptions, 'capabilities' | 'olderVersions'>> {
  readonly capabilities?: readonly LooseCapability[]
  readonly olderVersions?: Readonly<Record<string, readonly LooseCapability[]>>
}

export const echo: LooseCapability = {
  name: 'echo',
  description: 'Returns its input.',
  input: { text: 'string' },
  output: { text: 'string' },
  handler: ({ text }: { text: string }) => ({ text }),
}

export const count: LooseCapability = {
  name: 'count',
  description: 'Counts.',
  input: { to: 'integer' },
  async *handler({ to }: { to: number }) {
    for (let n = 1; n <= to; n++) yield { n }
  },
}

export function makeAgent({ capabilities = [echo], olderVersions = {}, ...options }: TestOptions = {}): Agent {
  const checked = (list: readonly LooseCapability[]) => list.map((definition) => capability(definition))
  return track(
    createAgent({
      name: 'tester',
      version: '2.1.0',
      description: 'Says things back.',
      capabilities: checked(capabilities),
      olderVersions: Object.fromEntries(
        Object.entries(olderVersions).map(([version, list]) => [version, checked(list)]),
      ),
      onError: () => {},
      ...options,
    }),
  )
}

export async function startAgent(options: TestOptions = {}): Promise<RunningAgent> {
  const agent = makeAgent(options)
  const { address: url = '' } = await agent.listen()
  return { agent, url, host: new URL(url).host }
}

/** A new Ed25519 key. */
export function makeKey(id = 'key-1'): SigningKey {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { crv = '', x = '', d = '' } = privateKey.export({ format: 'jwk' })
  return { id, jwk: { kty: 'OKP', crv, x, d } }
}

export interface TestResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Has the type that JSON.parse returns; undefined if the body is not JSON. */
  readonly json: ReturnType<typeof JSON.parse>
}

export async function send(url: string, init: RequestInit = {}): Promise<TestResponse> {
  const response = await fetch(url, init)
  const text = await response.text()
  const isJson = /json$/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined }
}

export const post = (url: string, body: JsonValue, headers: Record<string, string> = {}): Promise<TestResponse> =>
  send(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })

/** Polls until the condition holds or three seconds have passed; returns the last value. */
export async function until<T>(read: () => T | Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries++) {
    const value = await read()
    if (isDone(value) || tries > 150) return value
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
