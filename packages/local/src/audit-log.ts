import { appendFile, readFile, rename, stat } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { isObject, type JsonObject, parseJson } from '@switchboard/protocol'
import { LIMITS } from './limits.js'
import { LocalError } from './local-error.js'

/** One event. Inputs and outputs are never logged (AURI §10). */
export interface AuditEntry {
  readonly event: 'call' | 'allowed' | 'refused' | 'revoked'
  readonly agent: string
  readonly capability: string
  /** Origin of the web page; undefined for a program of this user. */
  readonly origin?: string
  readonly status?: number
  /** Milliseconds. */
  readonly duration?: number
}

/** A log of calls and consents, in a file of mode 0600 and bounded size. */
export interface AuditLog {
  write(entry: AuditEntry): void
  /** Newest first. */
  read(limit: number): Promise<readonly JsonObject[]>
  /** Resolves when all entries are written. */
  flush(): Promise<void>
}

export interface AuditLogDeps {
  readonly path: string
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** Rotates the file when it reaches its size limit, and keeps one older file. */
export function createAuditLog({ path, now, onError }: AuditLogDeps): AuditLog {
  let writes = Promise.resolve()
  const append = async (line: string): Promise<void> => {
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    )
    if (size + line.length > LIMITS.logBytes) await rename(path, `${path}.1`)
    await appendFile(path, line, { mode: 0o600 })
  }
  return {
    write(entry) {
      const line = `${JSON.stringify({ at: new Date(now()).toISOString(), ...entry })}\n`
      writes = writes.then(() => append(line)).catch(onError)
    },
    async read(limit) {
      await writes
      const texts = await Promise.all([`${path}.1`, path].map((file) => readFile(file, 'utf8').catch(() => '')))
      return texts.join('').split('\n').filter(Boolean).slice(-limit).reverse().flatMap(toEntry)
    },
    flush: () => writes,
  }
}

/** Runs a call and logs it with its status and duration. */
export async function audited(
  { log, monotonic }: { readonly log: AuditLog; readonly monotonic: () => number },
  subject: Pick<AuditEntry, 'agent' | 'capability' | 'origin'>,
  response: ServerResponse,
  work: () => Promise<void>,
): Promise<void> {
  const { agent, capability, origin } = subject
  const startedAt = monotonic()
  let status = 500
  try {
    await work()
    status = response.statusCode
  } catch (error) {
    if (error instanceof LocalError) status = error.status
    throw error
  } finally {
    const duration = Math.round(monotonic() - startedAt)
    log.write({ event: 'call', ...(origin !== undefined && { origin }), agent, capability, status, duration })
  }
}

/** Skips a line that was truncated by a crash. */
function toEntry(line: string): JsonObject[] {
  try {
    const value = parseJson(line)
    return isObject(value) ? [value] : []
  } catch {
    return []
  }
}
