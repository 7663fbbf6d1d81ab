import type { AgentRecord, JsonObject, LearnedOperations } from '@switchboard/protocol'
import type { AbuseCode, AbuseFinding } from './abuse-finding.js'
import { type Path, toPointer, visitTexts } from './document-texts.js'
import { findHiddenCharacters, isPrintableAscii } from './hidden-characters.js'
import { distinctiveName, findInstruction, hasChatMarkup } from './instructions.js'
import { plainText, readTokens } from './plain-text.js'
import { findKeywordStuffing, findTagStuffing } from './stuffing.js'

/** Findings reported for each kind; more would only bloat the record. */
const MAX_FINDINGS = 3
/** Shorter ASCII texts cannot contain abuse. */
const MIN_LENGTH = 8
/** A longer name is a description that gets the weight of a name. */
const MAX_NAME_WORDS = 30
/** Examples that an agent may have, plus some for each operation. */
const MAX_EXAMPLES = 100
const EXAMPLES_PER_OPERATION = 10

/**
 * Checks a record for search abuse: keyword stuffing, prompt injection and hidden text. Pass the public view of the
 * record (`redactRecord`), because findings are public. Takes time linear in the size of the document.
 *
 * @example
 * findAbuse(record) // [{ code: 'tag_stuffing', member: '/tags', message: 'has 200 tags, …' }]
 */
export function findAbuse(record: AgentRecord): readonly AbuseFinding[] {
  const findings: AbuseFinding[] = []
  const counts = new Map<AbuseCode, number>()
  const add = (code: AbuseCode, member: string, message: string): void => {
    const count = counts.get(code) ?? 0
    counts.set(code, count + 1)
    if (count < MAX_FINDINGS) findings.push({ code, member, message })
  }

  const name = distinctiveName(record.name)
  const seen = new Set<string>()
  const visit = (text: string, path: Path, kind: 'value' | 'name'): void => {
    if (text.length < MIN_LENGTH && isPrintableAscii(text)) return
    if (seen.has(text)) return
    seen.add(text)
    // A pointer to the member itself would quote its name.
    const report = (code: AbuseCode, message: string): void =>
      kind === 'name'
        ? add(code, toPointer(path.slice(0, -1)), `has a member whose name ${message}`)
        : add(code, toPointer(path), message)
    const hidden = findHiddenCharacters(text)
    if (hidden) report('hidden_characters', `contains ${hidden}`)
    const plain = plainText(text)
    const tokens = readTokens(plain)
    const instruction = hasChatMarkup(text)
      ? CHAT_MARKUP
      : findInstruction(plain, tokens, path[0] === 'name' ? [] : name)
    if (instruction) report('instructions', `seems to give instructions to language models: ${instruction}`)
    if (kind === 'name') return
    const stuffing = path.at(-1) === 'name' && tokens.length > MAX_NAME_WORDS ? LONG_NAME : stuffingOf(tokens, path)
    if (stuffing) report('keyword_stuffing', stuffing)
  }
  visitTexts(record.document, visit)
  // What the agent itself lists is read like its document.
  if (record.learned) visitTexts({ operations: toTexts(record.learned) }, visit)

  const tags = findTagStuffing(record)
  if (tags) add('tag_stuffing', tags.member, tags.message)
  const examples = record.examples.length
  if (examples > MAX_EXAMPLES + EXAMPLES_PER_OPERATION * Math.min(record.operations.length, MAX_EXAMPLES)) {
    add('example_stuffing', '/examples', `has ${examples} examples: keep a few that differ`)
  }
  return findings
}

const toTexts = ({ operations }: LearnedOperations): JsonObject[] =>
  operations.map(({ name, description = '', inputs, outputs }) => ({ name, description, inputs, outputs }))

const CHAT_MARKUP = 'it contains the markup of a chat template'
const LONG_NAME = 'is too long for a name: move the text to the description'

const stuffingOf = (tokens: readonly string[], path: Path): string | undefined =>
  findKeywordStuffing(tokens, path.includes('properties') ? 'schema' : 'prose')
