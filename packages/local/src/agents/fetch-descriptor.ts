import { isObject, type JsonObject, readBytes } from '@switchboard/protocol'
import { parseJsonBytes } from '../http/read-body.js'
import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'
import type { Target } from './local-agent.js'
import { sendToAgent } from './send-to-agent.js'

/** Paths where agents publish their descriptor, in lookup order (AURI §5, C-85). */
const PATHS = ['/agent.json', '/.well-known/agent.json', '/.well-known/agent-card.json']
const TIMEOUT_MS = 5000

/** Fetches the descriptor that an agent publishes itself. */
export async function fetchDescriptor(target: Target): Promise<JsonObject> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  for (const path of PATHS) {
    const descriptor = await fetchFrom(target, path, signal)
    if (descriptor) return descriptor
  }
  throw new LocalError(
    'invalid_input',
    `/descriptor is required, because the agent publishes none at ${PATHS.join(', ')}`,
  )
}

async function fetchFrom(target: Target, path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
  const response = await sendToAgent(target, { method: 'GET', path, headers: { accept: 'application/json' }, signal })
  if (response.statusCode !== 200) {
    response.resume()
    return undefined
  }
  const tooLarge = (): LocalError =>
    new LocalError('payload_too_large', `the agent’s ${path} is larger than ${LIMITS.bodyBytes} bytes`)
  const value = parseJsonBytes(await readBytes(response, LIMITS.bodyBytes, tooLarge), `the agent’s ${path}`)
  return isObject(value) ? value : undefined
}
