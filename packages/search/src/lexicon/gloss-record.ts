import type { AgentRecord } from '@switchboard/protocol'
import { detectLanguage, latinShare } from '../words/tokenize.js'
import { MAX_MEANINGS } from '../words/word-query.js'
import type { Gloss } from './gloss.js'
import type { Lexicon } from './lexicon.js'

/** A record that is not described in English. */
export interface RecordGloss {
  /** Primary BCP 47 subtag. */
  readonly language: string
  /** A text of the record in English, word by word, as far as the lexicon knows it. */
  english(text: string): string
  /** What the words of the text mean in English, without those that are unknown. */
  meanings(text: string): string
}

/** Characters of a description by which its language is recognised. */
const RECOGNISED_LENGTH = 300
/** Share of the words that must be known: else the language was not recognised correctly. */
const MIN_KNOWN_SHARE = 0.4
/** Longer texts are cut, in characters, because glossing takes time. */
const MAX_GLOSSED_LENGTH = 1000

/** Words that only English has: most records are recognised by these alone. */
const ENGLISH = /\b(?:the|and|with|your|from|that|this)\b/i
/** Letters that are not Latin. */
const OTHER_SCRIPT = /[\u0370-\u1dff\u2c00-\ud7ff\uf900-\uffef]/

/** How to read a record in English; undefined if it is described in English or in a language that the lexicon does not have. */
export function glossRecord(
  { name, description }: Pick<AgentRecord, 'name' | 'description'>,
  lexicon: Lexicon,
): RecordGloss | undefined {
  const sample = (description || name).slice(0, RECOGNISED_LENGTH)
  const isLatin = !OTHER_SCRIPT.test(sample)
  if (isLatin && ENGLISH.test(sample)) return undefined
  const language = detectLanguage(sample)
  if (language === undefined || language === 'en' || !lexicon.languages.includes(language)) return undefined
  const gloss = (text: string): Gloss[] => glossText(text.slice(0, MAX_GLOSSED_LENGTH), language, lexicon).flat()
  if (isLatin && knownShare(gloss(sample)) < MIN_KNOWN_SHARE) return undefined
  return {
    language,
    english: (text) => gloss(text).flatMap(englishWords).join(' '),
    meanings: (text) =>
      gloss(text)
        .flatMap(({ parts }) => parts.flatMap((meanings) => meanings.slice(0, MAX_MEANINGS)))
        .join(' '),
  }
}

/** The glosses of each sentence of a text. */
export const glossText = (text: string, language: string, lexicon: Lexicon): Gloss[][] =>
  sentencesOf(text).map((sentence) => lexicon.gloss(sentence, language) ?? [])

/** The sentences of a text, or its lines. */
export const sentencesOf = (text: string): string[] =>
  (text.match(/[^.!?。！？\n]+[.!?。！？]*/g) ?? []).map((sentence) => sentence.trim())

/** The most usual meaning; a word that the lexicon does not know may be a name, if an English model can read it. */
export function englishWords({ word, parts }: Gloss): string[] {
  if (parts.length > 0) return parts.map(([first = '']) => first)
  return latinShare(word) === 1 ? [word] : []
}

/** The share of the words that the lexicon knows. */
export const knownShare = (glosses: readonly Gloss[]): number =>
  glosses.filter(({ parts }) => parts.length > 0).length / Math.max(1, glosses.length)
