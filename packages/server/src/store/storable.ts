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

/** The text with unstorable characters replaced by U+FFFD. */
export const replaceUnstorable = (text: string): string => text.replace(ALL_UNSTORABLE, '\ufffd')
