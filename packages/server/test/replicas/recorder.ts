import type { JsonObject } from '@switchboard/protocol'
import type { Operation } from './check-history.js'

/** Milliseconds after which a request counts as lost; the directory answers earlier. */
const TIMEOUT_MS = 30_000

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly json: ReturnType<typeof JSON.parse>
}

/** Sends requests to replicas and records what came of them. */
export interface Recorder {
  readonly history: Operation[]
  /** Undefined if there was no response. */
  send(replica: number, key: string, method: string, path: string, options?: SendOptions): Promise<Answer | undefined>
  /** Sends a write and records it. */
  write(
    replica: number,
    key: string,
    request: WriteRequest,
  ): Promise<{ outcome: Operation['outcome']; answer?: Answer }>
  /** Reads an agent and records what was seen. */
  read(replica: number, key: string, agent: string, more?: Partial<Operation>): Promise<Seen | undefined>
}

export interface SendOptions {
  readonly body?: JsonObject
  readonly headers?: Record<string, string>
}

export interface WriteRequest extends SendOptions, Pick<Operation, 'kind' | 'agent' | 'value' | 'base' | 'owner'> {
  readonly method: string
  readonly path: string
  /** When the registration ends, given when the request was sent and when it was answered. */
  readonly ends?: (start: number, end: number) => NonNullable<Operation['ends']>
}

export interface Seen {
  /** Undefined: no such agent. */
  readonly value: string | undefined
  readonly tag: string | undefined
  readonly at: number
}

export function createRecorder(urlOf: (replica: number) => string): Recorder {
  const history: Operation[] = []

  const send: Recorder['send'] = async (replica, key, method, path, { body, headers } = {}) => {
    try {
      const response = await fetch(urlOf(replica) + path, {
        method,
        headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) }
    } catch {
      return undefined
    }
  }

  return {
    history,
    send,
    async write(replica, key, { kind, agent, value, base, owner, method, path, ends, ...options }) {
      const start = Date.now()
      const answer = await send(replica, key, method, path, options)
      const end = Date.now()
      const outcome = outcomeOf(answer)
      history.push({
        ...{ kind, agent, replica, start, end, outcome, value },
        ...(base !== undefined && { base }),
        ...(owner !== undefined && { owner }),
        ...(ends && { ends: ends(start, end) }),
      })
      return { outcome, ...(answer && { answer }) }
    },
    async read(replica, key, agent, more) {
      const start = Date.now()
      const answer = await send(replica, key, 'GET', `/agents/${agent}`)
      const end = Date.now()
      if (answer?.status !== 200 && answer?.status !== 404) return undefined
      const value: string | undefined = answer.status === 200 ? answer.json.marker : undefined
      history.push({ kind: 'read', agent, replica, start, end, outcome: 'ok', value, ...more })
      return { value, tag: answer.headers.get('etag') ?? undefined, at: end }
    },
  }
}

/** Nothing was changed if the directory refused the request, except with 503. */
function outcomeOf(answer: Answer | undefined): Operation['outcome'] {
  if (!answer || answer.status >= 500) return 'unknown'
  return answer.status < 300 ? 'ok' : 'refused'
}
