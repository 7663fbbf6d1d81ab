import { isObject, type JsonObject, readBytes } from '@switchboard/protocol'
import { parseStrictly } from '../http/read-body.js'
import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'
import type { Target } from './local-agent.js'
import { openTarget } from './open-target.js'

/** Where agents publish their descriptor, in the order of lookup (AURI §5, C-85). */
const PLACES = ['/agent.json', '/.well-known/agent.json', '/.well-known/agent-card.json']
const TIMEOUT_MS = 5000

/** The descriptor that an agent itself publishes. */
export async function askDescriptor(target: Target): Promise<JsonObject> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  for (const path of PLACES) {
    const descriptor = await ask(target, path, signal)
    if (descriptor) return descriptor
  }
  throw new LocalError(
    'invalid_input',
    `/descriptor is required, because the agent publishes none at ${PLACES.join(', ')}`,
  )
}

async function ask(target: Target, path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
  const answer = await openTarget(target, { method: 'GET', path, headers: { accept: 'application/json' }, signal })
  if (answer.statusCode !== 200) {
    answer.resume()
    return undefined
  }
  const tooLarge = (): LocalError =>
    new LocalError('too_large', `the agent’s ${path} is larger than ${LIMITS.bodyBytes} bytes`)
  const value = parseStrictly(await readBytes(answer, LIMITS.bodyBytes, tooLarge), `the agent’s ${path}`)
  return isObject(value) ? value : undefined
}
