import { createDiscoveryClient } from '@switchboard/client/discovery'
import { isObject, type JsonValue } from '@switchboard/protocol/json'
import { BASE } from './address.js'

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS']

/** The token that the directory expects with every request that changes something; undefined if nobody is signed in. */
let csrfToken: string | undefined
let session: Promise<JsonValue | undefined> | undefined
const listeners = new Set<() => void>()

/** What the directory says about who is signed in; it is asked again only on request. */
export function loadSession(again = false): Promise<JsonValue | undefined> {
  if (again || !session) {
    session = requestJson('/session').then(
      (body) => {
        csrfToken = isObject(body) && typeof body.csrf === 'string' ? body.csrf : undefined
        return body
      },
      (error: unknown) => {
        session = undefined
        throw error
      },
    )
  }
  return session
}

/** Calls the listener if somebody else may be signed in than before, or nobody; returns how to stop that. */
export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** `fetch` with the session of this browser; give it to every client of `@switchboard/client`. */
export const fetchWithSession: typeof fetch = async (input, init) => {
  const isSafe = SAFE_METHODS.includes(
    (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase(),
  )
  // Without a session there is no token to wait for, but only the directory knows that.
  if (!isSafe) await loadSession().catch(() => undefined)
  const hadToken = csrfToken !== undefined
  const response = await send(input, init)
  const isRefused = hadToken && (response.status === 401 || response.status === 403)
  if (!isRefused) return response
  // The session has ended; or another tab has signed in again, and this one has the token of the session before.
  const isStale =
    response.status === 403 &&
    isCsrfFailure(
      await response
        .clone()
        .json()
        .catch(() => undefined),
    )
  if (response.status === 401 || isStale) {
    await loadSession(true).catch(() => undefined)
    for (const listener of listeners) listener()
  }
  return isStale ? send(input, init) : response
}

function send(input: string | URL | Request, init: RequestInit | undefined): Promise<Response> {
  const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined))
  if (csrfToken !== undefined) headers.set('x-csrf-token', csrfToken)
  return fetch(input, { ...init, headers, credentials: 'same-origin' })
}

const isCsrfFailure = (body: JsonValue | undefined): boolean => isObject(body) && body.code === 'csrf_failed'

/** Options for every client of the directory that serves this page. */
export const CONNECTION = { baseUrl: new URL(BASE, location.origin).href.replace(/\/$/, ''), fetch: fetchWithSession }

/** Finds and reads agents. Pages that call or administer load the larger clients themselves. */
export const directory = createDiscoveryClient(CONNECTION)

/** What the directory answered instead of a result. */
export class RequestError extends Error {
  readonly status: number
  readonly code: string | undefined
  /** The whole body of the error, such as with the members that are wrong. */
  readonly body: JsonValue | undefined

  constructor(status: number, body: JsonValue | undefined) {
    const error = isObject(body) && isObject(body.error) ? body.error : body
    super(isObject(error) && typeof error.message === 'string' ? error.message : `the directory answered ${status}`)
    this.status = status
    this.code = isObject(error) && typeof error.code === 'string' ? error.code : undefined
    this.body = body
  }
}

export interface JsonRequest {
  readonly method?: string
  readonly body?: JsonValue
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** Asks the directory for JSON at a path that no client covers; throws a `RequestError`. */
export async function requestJson(path: string, request: JsonRequest = {}): Promise<JsonValue | undefined> {
  const { method = 'GET', body, headers, signal } = request
  const response = await fetchWithSession(`${CONNECTION.baseUrl}${path}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  const text = await response.text()
  const value = readJson(text)
  if (!response.ok) throw new RequestError(response.status, value)
  return value
}

function readJson(text: string): JsonValue | undefined {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
