import type { AuditEntry } from './store.js'
import { StoreError } from './store-error.js'

/**
 * PostgreSQL rejects NUL in text and libsql truncates the text there; a lone surrogate has no UTF-8 encoding.
 * JSON text escapes both, so only plain text columns need the check.
 */
const UNSTORABLE = /\0|\p{Surrogate}/u
const ALL_UNSTORABLE = new RegExp(UNSTORABLE, 'gu')

/** Whether the databases can store all of the texts. A lookup by one that they cannot store finds nothing. */
export const isStorable = (...texts: (string | undefined)[]): boolean =>
  texts.every((text) => text === undefined || !UNSTORABLE.test(text))

/** Throws `invalid`. A last line of defence: names are checked before they get here. */
export function requireStorable(...texts: (string | undefined)[]): void {
  if (!isStorable(...texts))
    throw new StoreError('invalid', 'text with a NUL character or a lone surrogate cannot be stored')
}

/** Replaces unstorable characters: an audit entry may quote a caller's input, and must not be lost. */
export function storableAudit(entry: AuditEntry): AuditEntry {
  const cleaned = { ...entry, actor: clean(entry.actor), action: clean(entry.action) }
  if (entry.agent !== undefined) cleaned.agent = clean(entry.agent)
  if (entry.format !== undefined) cleaned.format = clean(entry.format)
  if (entry.requestId !== undefined) cleaned.requestId = clean(entry.requestId)
  if (entry.detail !== undefined) cleaned.detail = clean(entry.detail)
  return cleaned
}

const clean = (text: string): string => text.replace(ALL_UNSTORABLE, '\ufffd')
