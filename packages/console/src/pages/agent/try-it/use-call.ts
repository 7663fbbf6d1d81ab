import { ClientError, type Credential, createClient, type Reply } from '@switchboard/client'
import type { JsonValue } from '@switchboard/protocol/json'
import { useCallback, useEffect, useRef, useState } from 'react'
import { CONNECTION } from '../../../app/api.js'
import type { CallMode } from './call-code.js'
import { type Exchange, recordExchanges } from './record-exchanges.js'

/** A call to be made. */
export interface CallRequest {
  readonly agent: string
  readonly operation: string | undefined
  readonly input: JsonValue
  readonly mode: CallMode
  readonly searchId: string | undefined
  readonly credentials: Credential | undefined
}

/** What has become of the last call. */
export interface CallState {
  readonly phase: 'idle' | 'running' | 'done' | 'failed' | 'stopped'
  readonly mode: CallMode
  /** Milliseconds that the call has taken, once it is over. */
  readonly ms: number | undefined
  readonly reply: Reply | undefined
  /** Parts of a stream as lines of JSON; `partCount` counts those that did not fit too. */
  readonly parts: readonly string[]
  readonly partCount: number
  /** The task of a deferred call, as the directory last described it. */
  readonly task: JsonValue | undefined
  readonly error: unknown
}

const IDLE: CallState = {
  phase: 'idle',
  mode: 'wait',
  ms: undefined,
  reply: undefined,
  parts: [],
  partCount: 0,
  task: undefined,
  error: undefined,
}
/** Milliseconds between updates of what is shown while a stream arrives. */
const PAINT_MS = 60
/** Characters that are kept of a stream. */
const MAX_STREAM = 1_000_000
/** Exchanges that are kept: the call, and the last polls of a deferred one. */
const MAX_EXCHANGES = 20
/** Milliseconds to wait for a response, as long as the directory waits for an agent, and for a deferred one. */
const TIMEOUT_MS = 120_000
const WAIT_MS = 24 * 3_600_000

/** Makes calls one at a time, and tells how they go. */
export function useCall(): {
  readonly state: CallState
  readonly exchanges: readonly Exchange[]
  readonly start: (request: CallRequest) => void
  /** Stops the call; a deferred one is cancelled at the directory and the agent. */
  readonly stop: () => void
} {
  const [state, setState] = useState(IDLE)
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([])
  const running = useRef<AbortController>(undefined)

  const start = useCallback((request: CallRequest): void => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    setState({ ...IDLE, phase: 'running', mode: request.mode })
    setExchanges([])
    const isCurrent = (): boolean => running.current === controller
    const record = (exchange: Exchange): void => {
      if (isCurrent()) setExchanges((old) => withExchange(old, exchange))
    }
    const began = performance.now()
    const update = (more: Partial<CallState>): void => {
      if (isCurrent()) setState((old) => ({ ...old, ...more }))
    }
    const finish = (more: Partial<CallState>): void => update({ ...more, ms: performance.now() - began })
    run(request, controller.signal, record, update).then(
      (reply) => finish({ phase: 'done', reply }),
      (error: unknown) => finish(isStop(error, controller.signal) ? { phase: 'stopped' } : { phase: 'failed', error }),
    )
  }, [])
  const stop = useCallback((): void => running.current?.abort(), [])
  useEffect(() => stop, [stop])
  return { state, exchanges, start, stop }
}

const isStop = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted && (!(error instanceof ClientError) || error.code === 'aborted')

const withExchange = (old: readonly Exchange[], next: Exchange): readonly Exchange[] =>
  old.some(({ id }) => id === next.id)
    ? old.map((exchange) => (exchange.id === next.id ? next : exchange))
    : [...old, next].slice(-MAX_EXCHANGES)

async function run(
  { agent, operation, input, mode, searchId, credentials }: CallRequest,
  signal: AbortSignal,
  record: (exchange: Exchange) => void,
  update: (more: Partial<CallState>) => void,
): Promise<Reply | undefined> {
  const client = createClient({ ...CONNECTION, fetch: recordExchanges(CONNECTION.fetch, record) })
  const options = {
    signal,
    timeoutMs: TIMEOUT_MS,
    waitMs: WAIT_MS,
    onTask: (task: JsonValue) => update({ task }),
    ...(operation !== undefined && { operation }),
    ...(searchId !== undefined && { searchId }),
    ...(credentials && { credentials }),
  }
  if (mode !== 'stream')
    return client.invoke(agent, input, { ...options, ...(mode === 'later' && { respondAsync: true }) })
  const parts: string[] = []
  let [partCount, length] = [0, 0]
  const paint = setInterval(() => update({ parts: [...parts], partCount }), PAINT_MS)
  try {
    for await (const { data } of client.stream(agent, input, options)) {
      const text = JSON.stringify(data)
      partCount++
      length += text.length
      if (length <= MAX_STREAM) parts.push(text)
    }
  } finally {
    clearInterval(paint)
    update({ parts, partCount })
  }
  return undefined
}
