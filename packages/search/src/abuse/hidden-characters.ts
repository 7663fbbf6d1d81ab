import { latinConfusable } from './plain-text.js'

/** Kinds of hidden or deceptive characters, as worded in findings. */
export type HiddenKind =
  | 'control characters'
  | 'invisible characters inside words'
  | 'many invisible characters'
  | 'bidirectional control characters'
  | 'invisible tag characters'
  | 'variation selectors without a base character'
  | 'letters of another script that look like Latin letters'
  | 'too many combining marks on one letter'

const PRINTABLE_ASCII = /^[\x20-\x7e\t\n\r]*$/

/** Whether a text is printable ASCII, which cannot hide anything. */
export const isPrintableAscii = (text: string): boolean => PRINTABLE_ASCII.test(text)

/**
 * Characters without a glyph of their own: C0 and C1 controls, soft hyphen, joiners, zero-width spaces, bidirectional
 * controls, Hangul fillers, variation selectors, tag characters.
 */
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this matches control characters on purpose
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: this matches joiners on purpose
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\u{e0000}-\u{e01ef}]/u

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
/** Scripts that use joiners, or zero-width spaces between words. */
const JOINING =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Mongolian}]/u
const LETTER = /\p{L}/u
const LATIN = /\p{Script=Latin}/u
/** Includes digits, because keycap emoji start with one. */
const EMOJI = /\p{Emoji}/u
const HAN = /\p{Script=Han}/u

/** Invisible characters tolerated in a row and in total: copied text has a few, a hidden message needs many. */
const MAX_RUN = 2
const MAX_STRAY = 16
/** Combining marks on one letter; no language stacks more than four. */
const STACKED_MARKS = /\p{Mn}{6}/u
/** Shorter words that mix scripts are units or formulas: "Δt", "μs". */
const MIN_WORD = 4
const MIXED_WORD = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]+/gu
const CONFUSABLE_SCRIPTS = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u

/** The kind of hidden characters in a text, if any. Emoji, and joiners in scripts that need them, are allowed. */
export function findHiddenCharacters(text: string): HiddenKind | undefined {
  if (isPrintableAscii(text)) return undefined
  if (INVISIBLE.test(text)) {
    const kind = findInvisible([...text])
    if (kind) return kind
  }
  if (STACKED_MARKS.test(text.normalize('NFC'))) return 'too many combining marks on one letter'
  return CONFUSABLE_SCRIPTS.test(text) && LATIN.test(text) ? findConfusables(text) : undefined
}

function findInvisible(characters: readonly string[]): HiddenKind | undefined {
  let hasRightToLeft: boolean | undefined
  let run = 0
  let stray = 0
  let isAfterFlag = false
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? ''
    if (!INVISIBLE.test(character)) {
      run = 0
      isAfterFlag = character === BLACK_FLAG
      continue
    }
    const code = character.codePointAt(0) ?? 0
    if (isControl(code)) return 'control characters'
    if (code >= 0xe0000 && code < 0xe0100) {
      // The flags of England, Scotland and Wales consist of a black flag and tag characters.
      if (!isAfterFlag) return 'invisible tag characters'
      continue
    }
    const before = characters[i - 1] ?? ''
    if (isVariationSelector(code)) {
      if (!hasVariants(before, code)) return 'variation selectors without a base character'
      continue
    }
    if (isBidiControl(code)) {
      hasRightToLeft ??= characters.some((other) => RIGHT_TO_LEFT.test(other))
      if (!hasRightToLeft || isOverride(code)) return 'bidirectional control characters'
      continue
    }
    const after = characters[i + 1] ?? ''
    if (isJoinerNeeded(code, before, after)) continue
    if (++run > MAX_RUN || ++stray > MAX_STRAY) return 'many invisible characters'
    if (LETTER.test(before) && LETTER.test(after)) return 'invisible characters inside words'
  }
  return undefined
}

const BLACK_FLAG = '\u{1f3f4}'

const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code < 0xa0)

const isVariationSelector = (code: number): boolean =>
  (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef) || (code >= 0x180b && code <= 0x180f)

/** Embeddings, overrides and isolates. The marks U+200E, U+200F and U+061C are harmless and not included. */
const isBidiControl = (code: number): boolean =>
  (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
const isOverride = (code: number): boolean => code === 0x202d || code === 0x202e

/** Whether a variation selector is valid after a character: any one after an ideograph, text or emoji style after others. */
function hasVariants(before: string, code: number): boolean {
  if (HAN.test(before) || JOINING.test(before)) return true
  const isStyle = code === 0xfe0e || code === 0xfe0f
  return isStyle && (EMOJI.test(before) || !(LETTER.test(before) || INVISIBLE.test(before)))
}

/** Whether a joiner belongs to a script that needs it or to an emoji sequence (U+200D). */
const isJoinerNeeded = (code: number, before: string, after: string): boolean =>
  JOINING.test(before) || JOINING.test(after) || (code === 0x200d && EMOJI.test(after))

/** Finds a Latin word in which confusable letters replace some; "PDFки" is fine, because "и" looks like no Latin letter. */
function findConfusables(text: string): HiddenKind | undefined {
  for (const [word] of text.matchAll(MIXED_WORD)) {
    if (word.length < MIN_WORD || !CONFUSABLE_SCRIPTS.test(word) || !LATIN.test(word)) continue
    const foreign = [...word].filter((letter) => CONFUSABLE_SCRIPTS.test(letter))
    if (foreign.every((letter) => latinConfusable(letter) !== undefined)) {
      return 'letters of another script that look like Latin letters'
    }
  }
  return undefined
}
