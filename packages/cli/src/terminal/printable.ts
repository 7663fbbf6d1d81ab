import type { JsonValue } from '@switchboard/protocol'

/** Controls beyond line feed and tab, and marks of direction: what a stranger's text could steer a terminal with. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu

/** Text of a stranger with its lines, and without what could steer a terminal. */
export const printable = (text: string): string =>
  text.replaceAll(UNSEEN, (sign) => (sign === '\n' || sign === '\t' ? sign : ''))

/** JSON that means the same, in which such characters are escaped; JSON itself escapes only some. */
export const printableJson = (value: JsonValue, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replaceAll(UNSEEN, (sign) =>
    sign === '\n' ? sign : `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
