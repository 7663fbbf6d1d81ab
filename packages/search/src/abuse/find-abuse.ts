import type { AgentRecord } from '@switchboard/protocol'
import type { AbuseCode, AbuseFinding } from './abuse-finding.js'
import { type Path, toPointer, visitTexts } from './document-texts.js'
import { hiddenCharacters, isPlain } from './hidden-characters.js'
import { hasRoleMarks } from './instruction-phrases.js'
import { findInstruction, ownName } from './instructions.js'
import { keywordStuffing } from './keyword-stuffing.js'
import { plainText } from './plain-text.js'
import { readTokens } from './read-tokens.js'
import { tagStuffing } from './tag-stuffing.js'

/** Places that are named for each kind: one is enough to look, and all would fill the record. */
const MAX_PLACES = 3
/** Shorter texts that are plain can neither order nor hide anything. */
const MIN_LENGTH = 8
/** Words of a name; a longer one is a description that counts as a name. */
const MAX_NAME_WORDS = 30
/** Examples that an agent may have, and for each thing that it does. */
const MAX_EXAMPLES = 100
const EXAMPLES_A_SKILL = 10

/**
 * What in a record looks like cheating: stuffing, orders to the models that read it, text that people cannot see. Give
 * it the record as strangers see it (`redactRecord`): the findings are shown to them.
 *
 * The time grows with the length of the document and with nothing else.
 */
export function findAbuse(record: AgentRecord): readonly AbuseFinding[] {
  const findings: AbuseFinding[] = []
  const places = new Map<AbuseCode, number>()
  const add = (code: AbuseCode, member: string, message: string): void => {
    const known = places.get(code) ?? 0
    places.set(code, known + 1)
    if (known < MAX_PLACES) findings.push({ code, member, message })
  }

  const name = ownName(record.name)
  const seen = new Set<string>()
  const visit = (text: string, path: Path, kind: 'value' | 'name'): void => {
    if (text.length < MIN_LENGTH && isPlain(text)) return
    if (seen.has(text)) return
    seen.add(text)
    // A pointer to a name would repeat the name.
    const report = (code: AbuseCode, message: string): void =>
      kind === 'name'
        ? add(code, toPointer(path.slice(0, -1)), `has a member whose name ${message}`)
        : add(code, toPointer(path), message)
    const hidden = hiddenCharacters(text)
    if (hidden) report('hidden_characters', `contains ${hidden}`)
    const plain = plainText(text)
    const tokens = readTokens(plain)
    const order = hasRoleMarks(text) ? ROLES : findInstruction(plain, tokens, path[0] === 'name' ? [] : name)
    if (order) report('instructions', `seems to give orders to the model that reads it: ${order}`)
    if (kind === 'name') return
    const stuffing = path.at(-1) === 'name' && tokens.length > MAX_NAME_WORDS ? LONG_NAME : stuffingOf(tokens, path)
    if (stuffing) report('keyword_stuffing', stuffing)
  }
  visitTexts(record.document, visit)

  const tags = tagStuffing(record)
  if (tags) add('tag_stuffing', tags.member, tags.message)
  const examples = record.examples.length
  if (examples > MAX_EXAMPLES + EXAMPLES_A_SKILL * Math.min(record.operations.length, MAX_EXAMPLES)) {
    add('example_stuffing', '/examples', `has ${examples} examples: a few that differ are enough`)
  }
  return findings
}

const ROLES = 'in the shape of a chat between roles'
const LONG_NAME = 'is a name as long as a description'

const stuffingOf = (tokens: readonly string[], path: Path): string | undefined =>
  keywordStuffing(tokens, path.includes('properties') ? 'schema' : 'prose')
