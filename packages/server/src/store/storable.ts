import type { AuditEntry } from './store.js'
import { StoreError } from './store-error.js'

/**
 * PostgreSQL refuses NUL in text and libsql cuts the text off there; half of a surrogate pair has no UTF-8. JSON text
 * escapes both, so that only plain text columns need a look.
 */
const UNSTORABLE = /\0|\p{Surrogate}/u
const ALL_UNSTORABLE = new RegExp(UNSTORABLE, 'gu')

/** Whether the text can be a key: nothing is stored under one that cannot. */
export const isStorable = (...texts: (string | undefined)[]): boolean =>
  texts.every((text) => text === undefined || !UNSTORABLE.test(text))

/** A last line of defence: such names are refused before they come here. */
export function requireStorable(...texts: (string | undefined)[]): void {
  if (!isStorable(...texts))
    throw new StoreError('invalid', 'text with NUL or half of a surrogate pair cannot be stored')
}

/** An audit entry may quote what a caller sent: it is mended rather than refused, since it must not be lost. */
export function storableAudit(entry: AuditEntry): AuditEntry {
  const mended = { ...entry, actor: mend(entry.actor), action: mend(entry.action) }
  if (entry.agent !== undefined) mended.agent = mend(entry.agent)
  if (entry.format !== undefined) mended.format = mend(entry.format)
  if (entry.requestId !== undefined) mended.requestId = mend(entry.requestId)
  if (entry.detail !== undefined) mended.detail = mend(entry.detail)
  return mended
}

const mend = (text: string): string => text.replace(ALL_UNSTORABLE, '\ufffd')
