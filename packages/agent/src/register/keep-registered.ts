import { ClientError, type DirectoryClient, type Registration } from '@switchboard/client'
import { type JsonObject, sameJson } from '@switchboard/protocol'
import type { Runtime } from '../runtime.js'
import type { RegistrationFormat } from './documents.js'

/** A registration is renewed after this share of its lifetime, and so much more at random: no two agents at once. */
const EARLIEST = 0.5
const SPREAD = 0.3
/** Milliseconds before the second try, doubled for each further one, and the longest wait. */
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 300_000
/** Milliseconds for the farewell. */
const FAREWELL_MS = 5000

export interface KeepOptions {
  readonly client: DirectoryClient
  readonly format: RegistrationFormat
  readonly id: string
  /** Seconds wanted. */
  readonly lifetime: number
  /** The agent as it is now. */
  readonly document: () => JsonObject
  /** Ends a registration of the Agent Directory, where the client cannot. */
  readonly deregister: ((href: string, signal: AbortSignal) => Promise<void>) | undefined
  readonly runtime: Runtime
  readonly onError: (error: unknown) => void
}

/** An agent's place in a directory, held for as long as it is not closed. */
export interface AgentRegistration {
  readonly id: string
  /** Milliseconds since 1970 until which the directory knows the agent without hearing more of it. */
  readonly expiresAt: number
  /** The agent has changed: the directory is told now, once for all that has changed. */
  changed(): void
  /** Stops renewing, and takes the agent out of the directory. */
  close(): Promise<void>
}

/** Registers, and stays registered: renews in time, registers again where it was forgotten, is patient with failures. */
export async function keepRegistered(options: KeepOptions): Promise<AgentRegistration> {
  const { client, format, id, lifetime, runtime, onError } = options
  const closing = new AbortController()
  const { signal } = closing
  let current: Registration
  let told: JsonObject = {}
  let expiresAt = 0
  let wake = (): void => {}

  const register = async (): Promise<void> => {
    const document = options.document()
    const now = runtime.now()
    const stamped =
      format === 'ad' ? document : { ...document, updated_at: toTime(now), expires_at: toTime(now + lifetime * 1000) }
    current = await client.register(stamped, {
      id,
      signal,
      format: format === 'ad' ? 'directory' : format,
      ...(format === 'ad' && { lifetime }),
    })
    told = document
    expiresAt = now + (current.lifetime ?? lifetime) * 1000
  }

  const renew = async (): Promise<void> => {
    if (format !== 'ad') return register()
    const document = options.document()
    const changes = sameJson(document, told) ? undefined : document
    const now = runtime.now()
    try {
      await client.refresh(current, { lifetime, signal, ...(changes && { changes }) })
    } catch (error) {
      // Forgotten: by a lapse, or by a directory that lost its memory.
      if (error instanceof ClientError && error.status === 404) return register()
      throw error
    }
    told = document
    expiresAt = now + (current.lifetime ?? lifetime) * 1000
  }

  const wait = async (ms: number): Promise<void> => {
    const sleeping = new AbortController()
    wake = () => sleeping.abort()
    await runtime.sleep(Math.max(0, ms), AbortSignal.any([signal, sleeping.signal]))
  }

  const keep = async (): Promise<void> => {
    let failures = 0
    while (!signal.aborted) {
      const share = EARLIEST + SPREAD * runtime.random()
      const backoff = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS) * (0.5 + runtime.random() / 2)
      if (sameJson(told, options.document()) || failures > 0) {
        await wait(failures > 0 ? backoff : (expiresAt - runtime.now()) * share)
      }
      if (signal.aborted) return
      try {
        await renew()
        failures = 0
      } catch (error) {
        failures++
        if (!signal.aborted) onError(error)
      }
    }
  }

  await register()
  const kept = keep()
  return {
    id,
    get expiresAt() {
      return expiresAt
    },
    changed() {
      wake()
    },
    async close() {
      closing.abort()
      await kept
      const farewell = AbortSignal.timeout(FAREWELL_MS)
      try {
        if (format === 'ad' && options.deregister) await options.deregister(current.href, farewell)
        else await client.remove(id, { signal: farewell })
      } catch (error) {
        // Gone already is as good.
        if (!(error instanceof ClientError && error.status === 404)) onError(error)
      }
    },
  }
}

const toTime = (ms: number): string => new Date(ms).toISOString()
