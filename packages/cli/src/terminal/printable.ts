import type { JsonValue } from '@switchboard/protocol'

/** Control characters and direction marks, with which untrusted text could manipulate a terminal. */
const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu

/** Untrusted text without such characters; line feeds and tabs stay. */
export const printable = (text: string): string =>
  text.replaceAll(UNSAFE, (character) => (character === '\n' || character === '\t' ? character : ''))

/** Equivalent JSON in which such characters are escaped; JSON.stringify escapes only some of them. */
export const printableJson = (value: JsonValue, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replaceAll(UNSAFE, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
