import { DirectoryError, isObject, type JsonObject, parseJson } from '@switchboard/protocol'
import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'
import type { Target } from './local-agent.js'
import { openTarget } from './open-target.js'

/** Where agents publish what they are, in this order (AURI §5, C-85). */
const PLACES = ['/agent.json', '/.well-known/agent.json', '/.well-known/agent-card.json']
const TIMEOUT_MS = 5000

/** The descriptor that an agent itself publishes. */
export async function askDescriptor(target: Target): Promise<JsonObject> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  for (const path of PLACES) {
    const descriptor = await ask(target, path, signal)
    if (descriptor) return descriptor
  }
  throw new LocalError('invalid_input', `/descriptor is required: the agent has none at ${PLACES.join(', ')}`)
}

async function ask(target: Target, path: string, signal: AbortSignal): Promise<JsonObject | undefined> {
  const answer = await openTarget(target, { method: 'GET', path, headers: { accept: 'application/json' }, signal })
  if (answer.statusCode !== 200) {
    answer.resume()
    return undefined
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    if (!Buffer.isBuffer(chunk)) continue
    size += chunk.length
    if (size > LIMITS.bodyBytes) throw new LocalError('too_large', `the agent’s ${path} is too long`)
    chunks.push(chunk)
  }
  try {
    const value = parseJson(Buffer.concat(chunks).toString('utf8'))
    return isObject(value) ? value : undefined
  } catch (cause) {
    if (!(cause instanceof DirectoryError)) throw cause
    throw new LocalError('invalid_input', `the agent’s ${path}: ${cause.message.replace(/^the body is /, '')}`, {
      cause,
    })
  }
}
