import { latinLookalike } from './lookalikes.js'

/** What is hidden from people who read a text, in the words of a warning. */
export type HiddenKind =
  | 'control characters'
  | 'invisible characters inside words'
  | 'many invisible characters'
  | 'characters that change the direction of the text'
  | 'invisible tag characters'
  | 'variation selectors without a character to vary'
  | 'letters of another script that look like Latin ones'
  | 'a pile of marks on one letter'

const PLAIN = /^[\x20-\x7e\t\n\r]*$/

/** Nothing but printable ASCII, which hides nothing. */
export const isPlain = (text: string): boolean => PLAIN.test(text)

/**
 * Everything that is not drawn, or draws something else: C0 and C1 controls, soft hyphen, joiners and zero-width spaces,
 * direction marks, Hangul fillers, variation selectors, tag characters.
 */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: so are characters that join others
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\u{e0000}-\u{e01ef}]/u

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
/** Scripts that are written with joiners or with zero-width spaces between words. */
const JOINING =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}\p{Script=Mongolian}]/u
const LETTER = /\p{L}/u
const LATIN = /\p{Script=Latin}/u
/** Digits are in it, too: a keycap is made of one. */
const EMOJI = /\p{Emoji}/u
const HAN = /\p{Script=Han}/u

/** Two or three stray ones come with copied text; a message needs many. */
const MAX_RUN = 2
const MAX_STRAY = 16
/** Marks on one letter; the most that a language stacks is four. */
const PILE = /\p{Mn}{6}/u
/** Letters that a word needs to be told from a formula or an abbreviation: "Δt", "μs", "TGFβ". */
const MIN_WORD = 4
const MIXED_WORD = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]+/gu
const LOOKALIKE_SCRIPTS = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/u

/** What a text hides, or undefined if it hides nothing. Joiners where a script needs them and emoji are no hiding. */
export function hiddenCharacters(text: string): HiddenKind | undefined {
  if (isPlain(text)) return undefined
  if (UNSEEN.test(text)) {
    const kind = unseen([...text])
    if (kind) return kind
  }
  if (PILE.test(text.normalize('NFC'))) return 'a pile of marks on one letter'
  return LOOKALIKE_SCRIPTS.test(text) && LATIN.test(text) ? lookalikes(text) : undefined
}

function unseen(characters: readonly string[]): HiddenKind | undefined {
  let rightToLeft: boolean | undefined
  let run = 0
  let stray = 0
  let flag = false
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? ''
    if (!UNSEEN.test(character)) {
      run = 0
      flag = character === BLACK_FLAG
      continue
    }
    const code = character.codePointAt(0) ?? 0
    if (isControl(code)) return 'control characters'
    if (code >= 0xe0000 && code < 0xe0100) {
      // The flags of England, Scotland and Wales are a black flag and tags.
      if (!flag) return 'invisible tag characters'
      continue
    }
    const before = characters[i - 1] ?? ''
    if (isSelector(code)) {
      if (!mayVary(before, code)) return 'variation selectors without a character to vary'
      continue
    }
    if (isDirection(code)) {
      rightToLeft ??= characters.some((other) => RIGHT_TO_LEFT.test(other))
      if (!rightToLeft || isOverride(code)) return 'characters that change the direction of the text'
      continue
    }
    const after = characters[i + 1] ?? ''
    if (isNeeded(code, before, after)) continue
    if (++run > MAX_RUN || ++stray > MAX_STRAY) return 'many invisible characters'
    if (LETTER.test(before) && LETTER.test(after)) return 'invisible characters inside words'
  }
  return undefined
}

const BLACK_FLAG = '\u{1f3f4}'

const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code < 0xa0)

const isSelector = (code: number): boolean =>
  (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef) || (code >= 0x180b && code <= 0x180f)

/** Embeddings, overrides and isolates. The marks U+200E, U+200F and U+061C only settle what is ambiguous. */
const isDirection = (code: number): boolean => (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)
const isOverride = (code: number): boolean => code === 0x202d || code === 0x202e

/** A selector follows what it varies: ideographs any of them, others those that ask for text or emoji style. */
function mayVary(before: string, code: number): boolean {
  if (HAN.test(before) || JOINING.test(before)) return true
  const isStyle = code === 0xfe0e || code === 0xfe0f
  return isStyle && (EMOJI.test(before) || !(LETTER.test(before) || UNSEEN.test(before)))
}

/** In a script that joins letters, or between the parts of an emoji (U+200D). */
const isNeeded = (code: number, before: string, after: string): boolean =>
  JOINING.test(before) || JOINING.test(after) || (code === 0x200d && EMOJI.test(after))

/** A Latin word some letters of which are others that look the same; "PDFки" has letters that do not. */
function lookalikes(text: string): HiddenKind | undefined {
  for (const [word] of text.matchAll(MIXED_WORD)) {
    if (word.length < MIN_WORD || !LOOKALIKE_SCRIPTS.test(word) || !LATIN.test(word)) continue
    const foreign = [...word].filter((letter) => LOOKALIKE_SCRIPTS.test(letter))
    if (foreign.every((letter) => latinLookalike(letter) !== undefined)) {
      return 'letters of another script that look like Latin ones'
    }
  }
  return undefined
}
