import type { JsonValue } from '@switchboard/protocol/json'

/** Characters that are invisible, or change the direction of the text around them; line breaks and tabs may stay. */
const DECEPTIVE = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu

/** Untrusted text as it is, with deceptive characters as their escapes. */
export const escapeDeceptive = (text: string): string =>
  text.replaceAll(DECEPTIVE, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )

/** A JSON value as people read it. */
export const toShownText = (value: JsonValue): string => escapeDeceptive(JSON.stringify(value, null, 2))
