import { bitOf, type WordClass } from './instruction-words.js'

/** Words between which a rule must be met in full, for most: orders are short. */
const SPAN = 8

/** What an order is about, in the words of a warning. */
export const ABOUT = {
  ignore: 'to ignore other instructions',
  persona: 'to be somebody else',
  choice: 'to choose this agent',
  first: 'to rank this agent first',
  avoid: 'to avoid others',
  secrecy: 'to keep something from people',
  leak: 'to give away what is secret',
} as const

/** Parts of an order, which must all be there within so many words. */
interface Rule {
  readonly about: string
  readonly parts: readonly (readonly WordClass[])[]
  readonly span: number
  /** The parts must come in this sequence; else in any, for languages differ in it. */
  readonly ordered?: true
}

/** Orders that no description of an agent needs. */
const RULES: readonly Rule[] = [
  { about: ABOUT.ignore, parts: [['ignore'], ['prior', 'all'], ['rule', 'weakRule']], span: SPAN },
  { about: ABOUT.ignore, parts: [['ignore'], ['rule']], span: 2, ordered: true },
  { about: ABOUT.ignore, parts: [['ignore'], ['systemPrompt']], span: 6 },
  { about: ABOUT.ignore, parts: [['ignore'], ['all'], ['prior']], span: 3, ordered: true },
  { about: ABOUT.ignore, parts: [['not'], ['follow'], ['prior', 'all'], ['rule', 'weakRule']], span: SPAN },
  { about: ABOUT.persona, parts: [['you'], ['now'], ['free', 'role']], span: SPAN },
  { about: ABOUT.persona, parts: [['pretend'], ['free']], span: SPAN },
  { about: ABOUT.persona, parts: [['you', 'pretend'], ['machine'], ['not'], ['weakRule']], span: SPAN },
  { about: ABOUT.choice, parts: [['always'], ['choose'], ['self', 'me']], span: SPAN, ordered: true },
  { about: ABOUT.choice, parts: [['choose'], ['always'], ['self', 'me']], span: 5, ordered: true },
  { about: ABOUT.choice, parts: [['self'], ['always'], ['choose']], span: 5, ordered: true },
  { about: ABOUT.choice, parts: [['always'], ['self'], ['choose']], span: 5, ordered: true },
  { about: ABOUT.choice, parts: [['choose'], ['self'], ['always']], span: 6, ordered: true },
  { about: ABOUT.choice, parts: [['over'], ['choose'], ['self']], span: 5, ordered: true },
  { about: ABOUT.choice, parts: [['always'], ['use'], ['self'], ['over', 'other', 'rival']], span: 12, ordered: true },
  { about: ABOUT.choice, parts: [['over'], ['always'], ['use'], ['self']], span: SPAN, ordered: true },
  { about: ABOUT.choice, parts: [['choose', 'use'], ['self'], ['over'], ['other', 'rival']], span: 12, ordered: true },
  { about: ABOUT.choice, parts: [['machine'], ['choose'], ['self']], span: SPAN, ordered: true },
  { about: ABOUT.first, parts: [['rank', 'choose'], ['self'], ['top']], span: 7, ordered: true },
  { about: ABOUT.first, parts: [['self'], ['rank'], ['top']], span: 6, ordered: true },
  { about: ABOUT.first, parts: [['self'], ['top'], ['rank']], span: 5, ordered: true },
  { about: ABOUT.first, parts: [['choose', 'rank'], ['me'], ['top']], span: 2, ordered: true },
  {
    about: ABOUT.avoid,
    parts: [['not'], ['choose', 'use', 'tell', 'rank'], ['other'], ['noun', 'thing']],
    span: 7,
    ordered: true,
  },
  { about: ABOUT.avoid, parts: [['other'], ['noun', 'thing'], ['choose', 'use'], ['not']], span: 6, ordered: true },
  { about: ABOUT.avoid, parts: [['not'], ['choose', 'use', 'tell'], ['rival']], span: 5, ordered: true },
  { about: ABOUT.avoid, parts: [['choose', 'use', 'tell'], ['not'], ['other'], ['noun']], span: SPAN, ordered: true },
  { about: ABOUT.avoid, parts: [['ignore'], ['other', 'rival'], ['noun', 'thing']], span: 4, ordered: true },
  { about: ABOUT.secrecy, parts: [['not'], ['tell'], ['user']], span: 6, ordered: true },
  { about: ABOUT.secrecy, parts: [['tell'], ['not'], ['user']], span: 4, ordered: true },
  { about: ABOUT.secrecy, parts: [['user'], ['tell'], ['not']], span: 5, ordered: true },
  { about: ABOUT.secrecy, parts: [['not'], ['tell', 'leak'], ['rule']], span: 4, ordered: true },
  { about: ABOUT.leak, parts: [['leak'], ['systemPrompt']], span: 4 },
  { about: ABOUT.leak, parts: [['leak'], ['hidden'], ['loot']], span: 4, ordered: true },
  { about: ABOUT.leak, parts: [['leak'], ['loot'], ['hidden']], span: 4, ordered: true },
]

const rules = RULES.map(({ about, parts, span, ordered }) => ({
  about,
  span,
  ordered,
  parts: parts.map((names) => names.reduce((bits, name) => bits | bitOf(name), 0)),
}))

/** A word that may be part of an order: where it stands, in words, and its classes. */
export interface Part {
  readonly at: number
  readonly bits: number
}

/** What the words order, by the first rule that they meet. */
export function metRule(found: readonly Part[]): string | undefined {
  let all = 0
  for (const { bits } of found) all |= bits
  for (const rule of rules) if (mayBeMet(rule.parts, all) && isMet(rule, found)) return rule.about
  return undefined
}

/** Whether there is a word for each part at all, which spares most texts a closer look. */
function mayBeMet(parts: readonly number[], all: number): boolean {
  for (const bits of parts) if ((bits & all) === 0) return false
  return true
}

/** Whether different words within the span play all parts, in their sequence if the rule is ordered. */
function isMet({ parts, span, ordered }: (typeof rules)[number], found: readonly Part[]): boolean {
  for (let i = 0; i + parts.length <= found.length; i++) {
    const from = found[i]?.at ?? 0
    /** Parts that are played already, as bits; all of them in the end. */
    let played = 0
    for (let j = i; j < found.length; j++) {
      const word = found[j]
      if (!word || word.at - from > span) break
      played |= ordered ? nextPart(parts, played, word.bits) : anyPart(parts, played, word.bits)
      if (played === 0) break
      if (played === 2 ** parts.length - 1) return true
    }
  }
  return false
}

/** The first part that is not played yet, if the word plays it. */
function nextPart(parts: readonly number[], played: number, bits: number): number {
  for (let i = 0; i < parts.length; i++) if ((played & (1 << i)) === 0) return (parts[i] ?? 0) & bits ? 1 << i : 0
  return 0
}

/** Any part that is not played yet, if the word plays it. */
function anyPart(parts: readonly number[], played: number, bits: number): number {
  for (let i = 0; i < parts.length; i++) if ((played & (1 << i)) === 0 && (parts[i] ?? 0) & bits) return 1 << i
  return 0
}
