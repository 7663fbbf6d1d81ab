import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@switchboard/protocol'

/** What a test site serves at a path. */
export interface TestPage {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON; text is sent as it is. */
  readonly body?: unknown
  /** Sends the response itself, instead. */
  readonly send?: (response: ServerResponse) => void
}

export interface TestRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly status: number
}

/** A site on this machine that publishes agents. It answers conditional requests if a page has an ETag. */
export interface TestSite {
  readonly url: string
  readonly authority: string
  pages: Record<string, TestPage>
  readonly requests: TestRequest[]
  /** The paths of the requests so far, which are then forgotten. */
  takePaths(): string[]
  /** Most requests that were open at the same time. */
  readonly mostAtOnce: number
  close(): Promise<void>
}

export async function startSite(pages: Record<string, TestPage> = {}): Promise<TestSite> {
  let open = 0
  let mostAtOnce = 0
  const server = createServer((request, response) => {
    mostAtOnce = Math.max(mostAtOnce, ++open)
    response.on('close', () => open--)
    const path = request.url ?? ''
    const page = site.pages[path]
    const { headers = {}, body = {}, send } = page ?? {}
    const isKnown = headers.etag !== undefined && request.headers['if-none-match'] === headers.etag
    const status = isKnown ? 304 : (page?.status ?? (page ? 200 : 404))
    site.requests.push({ path, headers: request.headers, status })
    if (send) return send(response)
    response.writeHead(status, headers)
    response.end(isKnown ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const site: TestSite = {
    url: `http://127.0.0.1:${port}`,
    authority: `127.0.0.1:${port}`,
    pages,
    requests: [],
    takePaths: () => site.requests.splice(0).map(({ path }) => path),
    get mostAtOnce() {
      return mostAtOnce
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return site
}

export const CARD = '/.well-known/agent-card.json'
export const DESCRIPTOR = '/.well-known/agent.json'
export const INDEX = '/.well-known/agents.json'

/** An A2A card. */
export const card = (changes: JsonObject = {}): JsonObject => ({
  name: 'Translator',
  description: 'Translates contracts.',
  version: '1.0.0',
  url: 'http://127.0.0.1:9/a2a',
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'translate', name: 'translate', description: 'translates', tags: ['translation'] }],
  ...changes,
})

/** A descriptor by the agent:// draft. */
export const descriptor = (changes: JsonObject = {}): JsonObject => ({
  name: 'planner',
  version: '1.0.0',
  description: 'Plans journeys.',
  endpoint: 'http://127.0.0.1:9/plan',
  capabilities: [{ name: 'plan', description: 'plans' }],
  ...changes,
})
