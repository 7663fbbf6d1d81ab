import { ClientError, type DirectoryClient, type Registration } from '@switchboard/client'
import { isSigned, type JsonObject } from '@switchboard/protocol'
import type { RegistrationRequest } from './registrable.js'

export interface KeepPublishedDeps {
  readonly directory: Pick<DirectoryClient, 'register' | 'refresh' | 'remove'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Resolves after so many milliseconds, or when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** From 0 to 1. */
  readonly random: () => number
  readonly onRegistered: (registration: Registration) => Promise<void>
  readonly onFailure: (error: ClientError) => void
}

export interface PublishOptions extends RegistrationRequest {
  /** Seconds after which the directory forgets the agent if it hears no more of it. */
  readonly lifetime: number
  readonly signal: AbortSignal
}

/** A registration is renewed after this share of its lifetime, and so much more at random: no two at once. */
const EARLIEST = 0.5
const SPREAD = 0.3
/** Milliseconds before the second try, doubled for each further one, and the longest wait. */
const FIRST_WAIT_MS = 1000
const LONGEST_WAIT_MS = 60_000
/** Milliseconds for the farewell. */
const FAREWELL_MS = 5000

/** Registers a document, keeps it registered until the signal aborts, and takes it out then. */
export async function keepPublished(deps: KeepPublishedDeps, publication: PublishOptions): Promise<void> {
  const { directory, now, sleep, random, onFailure } = deps
  const { options, lifetime, signal } = publication
  const isLease = options.format === 'directory'

  const register = (): Promise<Registration> => {
    const document = isLease ? publication.document : stamped(publication.document, now(), lifetime)
    return directory.register(document, { ...options, signal, ...(isLease && { lifetime }) })
  }

  let current = await register()
  await deps.onRegistered(current)

  const renew = async (): Promise<void> => {
    if (!isLease) {
      current = await register()
      return
    }
    try {
      await directory.refresh(current, { lifetime, signal })
    } catch (error) {
      // Forgotten: by a lapse, or by a directory that lost its memory.
      if (!(error instanceof ClientError) || error.status !== 404) throw error
      current = await register()
    }
  }

  let failures = 0
  while (!signal.aborted) {
    const granted = (current.lifetime ?? lifetime) * 1000
    const usual = granted * (EARLIEST + SPREAD * random())
    await sleep(failures === 0 ? usual : Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS), signal)
    if (signal.aborted) break
    try {
      await renew()
      failures = 0
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      failures++
      if (!signal.aborted) onFailure(error)
    }
  }
  await directory.remove(current.id, { signal: AbortSignal.timeout(FAREWELL_MS) }).catch((error: unknown) => {
    if (!(error instanceof ClientError)) throw error
    // Gone already is as good.
    if (error.status !== 404) onFailure(error)
  })
}

/** With its own end, so that it lapses when nobody renews it. A signed document stays as its signer made it. */
function stamped(document: JsonObject, now: number, lifetime: number): JsonObject {
  if (isSigned(document)) return document
  const time = (ms: number): string => new Date(ms).toISOString()
  return { ...document, updated_at: time(now), expires_at: time(now + lifetime * 1000) }
}
