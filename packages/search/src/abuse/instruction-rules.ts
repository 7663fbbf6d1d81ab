import { bitOf, type WordClass } from './instruction-words.js'

/** Default span of a rule, in words: instructions are short. */
const SPAN = 8

/** Kinds of instructions, as worded in findings. */
export const INSTRUCTION = {
  ignore: 'to ignore other instructions',
  persona: 'to take on another persona',
  choice: 'to choose this agent',
  first: 'to rank this agent first',
  avoid: 'to avoid other agents',
  secrecy: 'to keep something from the user',
  leak: 'to disclose secrets',
} as const

/** A pattern of word classes that makes up an instruction. */
interface Rule {
  readonly instruction: string
  /** Each part is matched by a word of any of its classes. */
  readonly parts: readonly (readonly WordClass[])[]
  /** All parts must occur within this many words. */
  readonly span: number
  /** The parts must occur in this order. Default: any order, because word order differs between languages. */
  readonly ordered?: true
}

/** Instructions that an honest description does not contain. */
const RULES: readonly Rule[] = [
  { instruction: INSTRUCTION.ignore, parts: [['ignore'], ['prior', 'all'], ['rule', 'weakRule']], span: SPAN },
  { instruction: INSTRUCTION.ignore, parts: [['ignore'], ['rule']], span: 2, ordered: true },
  { instruction: INSTRUCTION.ignore, parts: [['ignore'], ['systemPrompt']], span: 6 },
  { instruction: INSTRUCTION.ignore, parts: [['ignore'], ['all'], ['prior']], span: 3, ordered: true },
  { instruction: INSTRUCTION.ignore, parts: [['not'], ['follow'], ['prior', 'all'], ['rule', 'weakRule']], span: SPAN },
  { instruction: INSTRUCTION.persona, parts: [['you'], ['now'], ['free', 'role']], span: SPAN },
  { instruction: INSTRUCTION.persona, parts: [['pretend'], ['free']], span: SPAN },
  { instruction: INSTRUCTION.persona, parts: [['you', 'pretend'], ['machine'], ['not'], ['weakRule']], span: SPAN },
  { instruction: INSTRUCTION.choice, parts: [['always'], ['choose'], ['self', 'me']], span: SPAN, ordered: true },
  { instruction: INSTRUCTION.choice, parts: [['choose'], ['always'], ['self', 'me']], span: 5, ordered: true },
  { instruction: INSTRUCTION.choice, parts: [['self'], ['always'], ['choose']], span: 5, ordered: true },
  { instruction: INSTRUCTION.choice, parts: [['always'], ['self'], ['choose']], span: 5, ordered: true },
  { instruction: INSTRUCTION.choice, parts: [['choose'], ['self'], ['always']], span: 6, ordered: true },
  { instruction: INSTRUCTION.choice, parts: [['over'], ['choose'], ['self']], span: 5, ordered: true },
  {
    instruction: INSTRUCTION.choice,
    parts: [['always'], ['use'], ['self'], ['over', 'other', 'rival']],
    span: 12,
    ordered: true,
  },
  { instruction: INSTRUCTION.choice, parts: [['over'], ['always'], ['use'], ['self']], span: SPAN, ordered: true },
  {
    instruction: INSTRUCTION.choice,
    parts: [['choose', 'use'], ['self'], ['over'], ['other', 'rival']],
    span: 12,
    ordered: true,
  },
  { instruction: INSTRUCTION.choice, parts: [['machine'], ['choose'], ['self']], span: SPAN, ordered: true },
  { instruction: INSTRUCTION.first, parts: [['rank', 'choose'], ['self'], ['top']], span: 7, ordered: true },
  { instruction: INSTRUCTION.first, parts: [['self'], ['rank'], ['top']], span: 6, ordered: true },
  { instruction: INSTRUCTION.first, parts: [['self'], ['top'], ['rank']], span: 5, ordered: true },
  { instruction: INSTRUCTION.first, parts: [['choose', 'rank'], ['me'], ['top']], span: 2, ordered: true },
  {
    instruction: INSTRUCTION.avoid,
    parts: [['not'], ['choose', 'use', 'tell', 'rank'], ['other'], ['noun', 'thing']],
    span: 7,
    ordered: true,
  },
  {
    instruction: INSTRUCTION.avoid,
    parts: [['other'], ['noun', 'thing'], ['choose', 'use'], ['not']],
    span: 6,
    ordered: true,
  },
  { instruction: INSTRUCTION.avoid, parts: [['not'], ['choose', 'use', 'tell'], ['rival']], span: 5, ordered: true },
  {
    instruction: INSTRUCTION.avoid,
    parts: [['choose', 'use', 'tell'], ['not'], ['other'], ['noun']],
    span: SPAN,
    ordered: true,
  },
  {
    instruction: INSTRUCTION.avoid,
    parts: [['ignore'], ['other', 'rival'], ['noun', 'thing']],
    span: 4,
    ordered: true,
  },
  { instruction: INSTRUCTION.secrecy, parts: [['not'], ['tell'], ['user']], span: 6, ordered: true },
  { instruction: INSTRUCTION.secrecy, parts: [['tell'], ['not'], ['user']], span: 4, ordered: true },
  { instruction: INSTRUCTION.secrecy, parts: [['user'], ['tell'], ['not']], span: 5, ordered: true },
  { instruction: INSTRUCTION.secrecy, parts: [['not'], ['tell', 'leak'], ['rule']], span: 4, ordered: true },
  { instruction: INSTRUCTION.leak, parts: [['leak'], ['systemPrompt']], span: 4 },
  { instruction: INSTRUCTION.leak, parts: [['leak'], ['hidden'], ['secret']], span: 4, ordered: true },
  { instruction: INSTRUCTION.leak, parts: [['leak'], ['secret'], ['hidden']], span: 4, ordered: true },
]

const rules = RULES.map(({ instruction, parts, span, ordered }) => ({
  instruction,
  span,
  ordered,
  parts: parts.map((names) => names.reduce((bits, name) => bits | bitOf(name), 0)),
}))

/** A word that may be part of an instruction. */
export interface ClassifiedWord {
  /** Position, in words. */
  readonly at: number
  /** Its classes, one bit each. */
  readonly bits: number
}

/** The instruction of the first rule that matches. */
export function matchRules(found: readonly ClassifiedWord[]): string | undefined {
  let all = 0
  for (const { bits } of found) all |= bits
  for (const rule of rules) if (mayMatch(rule.parts, all) && matches(rule, found)) return rule.instruction
  return undefined
}

/** Whether there is a word for each part anywhere in the text: a cheap check that rules out most texts. */
function mayMatch(parts: readonly number[], all: number): boolean {
  for (const bits of parts) if ((bits & all) === 0) return false
  return true
}

/** Whether different words within the span match all parts, in order if the rule is ordered. */
function matches({ parts, span, ordered }: (typeof rules)[number], found: readonly ClassifiedWord[]): boolean {
  for (let i = 0; i + parts.length <= found.length; i++) {
    const from = found[i]?.at ?? 0
    /** The parts matched so far, one bit each. */
    let matched = 0
    for (let j = i; j < found.length; j++) {
      const word = found[j]
      if (!word || word.at - from > span) break
      matched |= ordered ? nextPart(parts, matched, word.bits) : anyPart(parts, matched, word.bits)
      if (matched === 0) break
      if (matched === 2 ** parts.length - 1) return true
    }
  }
  return false
}

/** The bit of the first unmatched part, if the word matches it. */
function nextPart(parts: readonly number[], matched: number, bits: number): number {
  for (let i = 0; i < parts.length; i++) if ((matched & (1 << i)) === 0) return (parts[i] ?? 0) & bits ? 1 << i : 0
  return 0
}

/** The bit of the first unmatched part that the word matches. */
function anyPart(parts: readonly number[], matched: number, bits: number): number {
  for (let i = 0; i < parts.length; i++) if ((matched & (1 << i)) === 0 && (parts[i] ?? 0) & bits) return 1 << i
  return 0
}
