import { type ClassifiedWord, INSTRUCTION, matchRules } from './instruction-rules.js'
import { bitOf, classesOf, wordAt } from './instruction-words.js'
import { isListSeparator, isSentenceEnd, isUnspaced, plainText } from './plain-text.js'

const [SELF, THIS, NOUN] = [bitOf('self'), bitOf('this'), bitOf('noun')]

/** A token of this many letters may be several words written together to evade a word list. */
const MIN_JOINED_LENGTH = 16
const MAX_JOINED_LENGTH = 400
/** Length of words searched for inside such a token: shorter ones match by chance. */
const MIN_JOINED_WORD = 5

/** A sentence boundary counts as this many words: an instruction rarely spans two sentences. */
const SENTENCE_GAP = 4
/** Characters of a script without spaces that count as one word in distances. */
const CHARACTERS_PER_WORD = 2

/**
 * Finds an instruction to models that read the text (prompt injection); returns it as worded in findings.
 *
 * @param plain the text, normalised by `plainText`
 * @param tokens the tokens of the text (`readTokens`)
 * @param name the words of the agent's name (`distinctiveName`), which mean "this agent"
 */
export function findInstruction(
  plain: string,
  tokens: readonly string[],
  name: readonly string[] = [],
): string | undefined {
  if (assignsPersona(plain)) return INSTRUCTION.persona
  if (requestsSecretFile(plain)) return INSTRUCTION.leak
  if (addressesModels(plain)) return 'it addresses them directly'
  return matchRules(classify(tokens, name))
}

/** The words of the agent's name; empty if it is generic, such as "Tool". */
export function distinctiveName(name: string): readonly string[] {
  const words = plainText(name).match(/[\p{L}\p{N}]+/gu) ?? []
  return words.some((word) => word.length > 2 && classesOf(word) === 0) ? words : []
}

/** The words of a text that belong to a class, with their positions. */
function classify(tokens: readonly string[], name: readonly string[]): ClassifiedWord[] {
  const found: ClassifiedWord[] = []
  let at = 0
  let lastThis = Number.NEGATIVE_INFINITY
  let nameWords = 0
  const add = (bits: number, position: number): void => {
    if (bits & THIS) lastThis = position
    // "this agent", "our translation service"
    found.push({ at: position, bits: bits & NOUN && position - lastThis <= SELF_DISTANCE ? bits | SELF : bits })
  }
  for (const token of tokens) {
    if (token.length === 1 && isListSeparator(token)) continue
    if (token.length === 1 && isSentenceEnd(token)) {
      at += SENTENCE_GAP
      continue
    }
    const bits = classesOf(token)
    if (bits !== 0) add(bits, at)
    else if (!ORDINARY.test(token)) at += readUnusual(token, at, add)
    nameWords = token === name[nameWords] ? nameWords + 1 : 0
    if (nameWords > 0 && nameWords === name.length) {
      add(SELF, at)
      nameWords = 0
    }
    at++
  }
  return found
}

/** Ordinary words, which are neither joined nor disguised. */
const ORDINARY = /^[a-z]{1,15}$/

/** Reads a token that may contain words of the lexicon in disguise; returns by how many words it is longer than one. */
function readUnusual(token: string, at: number, add: (bits: number, position: number) => void): number {
  if (isUnspaced(token)) return readRun(token, at, 1, add)
  const word = token.replace(DIGIT, (digit) => LETTER_OF[digit] ?? digit)
  const bits = classesOf(word)
  if (bits !== 0) add(bits, at)
  return word.length < MIN_JOINED_LENGTH ? 0 : readRun(word.slice(0, MAX_JOINED_LENGTH), at, MIN_JOINED_WORD, add)
}

/** Digits in the place of letters: "1gn0re". */
const LETTER_OF: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't' }
const DIGIT = /[013457]/g

/** Maximum distance, in words, between "this" and the noun it refers to. */
const SELF_DISTANCE = 3

/** Reads the words in a run of letters without spaces; returns its length in words. */
function readRun(run: string, at: number, minLength: number, add: (bits: number, position: number) => void): number {
  for (let position = 0; position < run.length; ) {
    const word = wordAt(run, position, minLength)
    if (word !== '') add(classesOf(word), at + Math.floor(position / CHARACTERS_PER_WORD))
    position += Math.max(word.length, 1)
  }
  return Math.ceil(run.length / CHARACTERS_PER_WORD)
}

/** Matches any of the patterns; all of them take linear time. */
const anyOf = (flags: string, ...patterns: readonly RegExp[]): RegExp =>
  new RegExp(patterns.map(({ source }) => source).join('|'), flags)

/** Role markers of chat templates, which do not occur in prose. */
const CHAT_MARKUP = anyOf(
  'i',
  /<\|[a-z_]{2,30}\|>|\[\/?inst\]|<<\/?sys>>/,
  /<\/?(?:system|system_prompt|assistant|start_of_turn|end_of_turn)>|(?:^|[\s.])\[system\]/,
  /(?:^|\n|[.!?] )[ \t]*(?:#{2,4} ?)?(?:system|assistant|human)(?: message| prompt)? ?:/,
  /#{2,4} ?(?:instruction|response)s?:/,
  /\b(?:begin|end) (?:of )?(?:system|admin) (?:message|prompt|instruction)|\b(?:system|administrator) override\b/,
)
/** Known from tool poisoning attacks. Case-sensitive: in lower case it occurs in documentation. */
const IMPORTANT_TAG = /<\/?IMPORTANT>/
/** A cheap check that rules out most texts. */
const MAY_BE_MARKUP = /[<[#:]|\b(?:begin|end|override)\b/i

/** Phrases that assign a new persona to a model; their words are too common for the rules in instruction-rules.ts. */
const NEW_PERSONA = anyOf(
  '',
  /\byou are (?:no longer|now (?:an?|the|in|acting|no longer|free))\b|\bfrom now on,? (?:you|act|behave|respond)\b/,
  /\bdu bist (?:jetzt|nun) (?:ein|der|die|kein)|\bab (?:jetzt|sofort) bist du\b/,
  /\b(?:tu es|vous etes) (?:maintenant|desormais) une?\b|\ba partir de maintenant,? (?:tu|vous)\b/,
  /\b(?:ahora eres|eres ahora)\b|\ba partir de ahora,? (?:eres|actua|responde)\b/,
  /你现在(?:是|不)|你現在是|从现在(?:起|开始)[,，]? ?你/,
)

/** Files that no honest agent requests. */
const SECRET_FILE = /~\/\.ssh\/|\bid_rsa\b|\/etc\/(?:passwd|shadow)\b|\.aws\/credentials/
const REQUEST_VERB = /\b(?:read|include|send|attach|upload|pass|forward|append)\b/

/** Forms of address to a model; an honest description addresses everybody. */
const GREETING = /\b(?:note|attention|instructions? to|dear|hinweis|achtung|remarque|nota|aviso|instructions a)/
const CONNECTIVE =
  /(?: to| for| an| fur| a| pour| para)?(?: the| all| any| die| jede| le| les| la| el| los)?[ ,:]+(?:l['’])?/
const MODEL =
  /(?:ais?|llms?|language models?|orchestrator|ki|ias?|sprachmodelle?|(?:intelligence|inteligencia) artificiel?le?)\b/
const ADDRESS_TO_MODEL = new RegExp(`${GREETING.source}${CONNECTIVE.source}${MODEL.source}`)

/** Whether a text contains the markup of a chat template. */
export const hasChatMarkup = (text: string): boolean =>
  MAY_BE_MARKUP.test(text) && (IMPORTANT_TAG.test(text) || CHAT_MARKUP.test(text))

/** Whether a plain text assigns a new persona to a model. */
export const assignsPersona = (plain: string): boolean => NEW_PERSONA.test(plain)

/** Whether a plain text requests a file with secrets. */
export const requestsSecretFile = (plain: string): boolean => SECRET_FILE.test(plain) && REQUEST_VERB.test(plain)

/** Whether a plain text addresses models directly. */
export const addressesModels = (plain: string): boolean => ADDRESS_TO_MODEL.test(plain)
