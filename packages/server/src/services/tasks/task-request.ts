import { invalid, isLoopbackHost, isObject, type JsonObject } from '@switchboard/protocol'
import { GatewayError } from '../../gateway/gateway.js'
import type { Seal } from '../identity/seal.js'

/** What a task is made from: it holds the caller's input, and may hold its credential for the agent. */
export interface TaskRequest {
  readonly request: JsonObject
  readonly callbackUrl?: string
}

export const sealRequest = (seal: Seal, id: string, request: TaskRequest): string =>
  seal.close(JSON.stringify(request), aboutOf(id))

/** Undefined where the directory's secret is another one now. */
export function openRequest(seal: Seal, id: string, sealed: string): TaskRequest | undefined {
  const text = seal.open(sealed, aboutOf(id))
  const value: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!isObject(value) || !isObject(value.request)) return undefined
  const { request, callbackUrl } = value
  return { request, ...(typeof callbackUrl === 'string' && { callbackUrl }) }
}

const aboutOf = (id: string): string => `task ${id}`

const LONGEST_URL = 2048

/**
 * Refuses what can never be called back (C-62): HTTPS only, but for this machine while developing, and no address that
 * is plainly not public. Where a name leads is looked at when it is called.
 */
export function assertCallbackUrl(text: string, checkAddress: (url: URL) => void): void {
  const problem = callbackProblem(text, checkAddress)
  if (problem !== undefined) throw invalid([{ at: 'X-Callback-URL', message: problem }])
}

function callbackProblem(text: string, checkAddress: (url: URL) => void): string | undefined {
  if (text.length > LONGEST_URL) return `must have ${LONGEST_URL} characters or fewer`
  if (!URL.canParse(text)) return 'must be an absolute URL'
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password'
  const isLocal = url.protocol === 'http:' && isLoopbackHost(url.hostname)
  if (url.protocol !== 'https:' && !isLocal) return 'must begin with https://'
  try {
    checkAddress(url)
    return undefined
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return `must lead to a public address: ${error.message}`
  }
}
