import { asObjects, asStrings, isObject, type JsonObject, pointerToken, sameJson } from '../json.js'
import { lintSchema } from '../schema/lint-schema.js'
import type { PublisherSchemas } from '../schema/publisher-schema.js'
import { publishedSchemas } from './published-schemas.js'
import type { AgentRecord } from './record.js'
import { isKnownMember } from './schemas/formats.js'

/** Status words of AIDIP §3.1 and PROF §4.8; others are kept but mean nothing to clients. */
export const STATUS_WORDS = ['active', 'inactive', 'suspended', 'deprecated', 'testing']

export interface LintOptions {
  /** Whether a tag is in one of the taxonomies of the directory; default: every tag is (PROF §4.4). */
  isDeclaredTag?: (tag: string) => boolean
}

/**
 * Advice for publishers: what is accepted but will make the agent harder to find or to trust. Documents that would be
 * wrong are refused by `parseDocument`; these are only warned about.
 */
export function lintRecord(record: AgentRecord, { isDeclaredTag = () => true }: LintOptions = {}): string[] {
  return [
    ...nameAdvice(record),
    ...statusAdvice(record),
    ...descriptionAdvice(record),
    ...tagAdvice(record, isDeclaredTag),
    ...exampleAdvice(record),
    ...styleAdvice(record),
    ...versionAdvice(record),
    ...memberAdvice(record),
    ...schemaAdvice(record),
  ]
}

/** Pairs that are checked, and how long each: registering must not take long because of what is only advice. */
const EXAMPLES = { most: 200, steps: 10_000 }

/** Examples that do not fit the schemas of their operation: the claim and the proof disagree (AIDIP §3.2). */
export function lintExamples(record: AgentRecord, schemas: PublisherSchemas): string[] {
  const pairs = asObjects(record.document.operations).flatMap((operation, i) =>
    asObjects(operation.examples).map((example, j) => ({ operation, example, at: `/operations/${i}/examples/${j}` })),
  )
  return pairs.slice(0, EXAMPLES.most).flatMap(({ operation, example, at }) =>
    (['input', 'output'] as const).flatMap((side) => {
      const schema = operation[`${side}s`] ?? operation[`${side}_schema`]
      const value = example[side]
      if (!isObject(schema) || value === undefined) return []
      const [issue] = schemas.check(schema, value, EXAMPLES.steps)
      return issue ? [`${at}/${side}${issue.at} does not fit the schema: it ${issue.message}`] : []
    }),
  )
}

/** People read and type the name of an agent in the directory (AD §4.1). */
function nameAdvice({ id, format }: AgentRecord): string[] {
  if (format !== 'directory') return []
  if ([...id].length > 64) return ['?agent is long: a short name is easier to use']
  return /\p{L}{2}/u.test(id) ? [] : ['?agent should be a name that means something']
}

function statusAdvice({ status }: AgentRecord): string[] {
  if (STATUS_WORDS.includes(status)) return []
  return [`/status "${status}" is not one of ${STATUS_WORDS.join(', ')}: clients may not understand it`]
}

function descriptionAdvice({ description, format }: AgentRecord): string[] {
  const advice: string[] = []
  if (description.length < 20) advice.push('/description is short: say purpose, domains, inputs, outputs and limits')
  const boast = /\b(best|perfect|guaranteed|world-class|unbeatable|flawless)\b/i.exec(description)
  if (boast) advice.push(`/description says "${boast[0]}": superlatives do not help to be found`)
  if (format === 'directory' && description.split(/[.!?](\s|$)/).filter((s) => s?.trim()).length > 2) {
    advice.push('/description should be one or two sentences')
  }
  if (SECRET.test(description)) advice.push('/description seems to contain a key or token: it is shown to everyone')
  return advice
}

/** Text that looks like a credential: a known prefix, or `key=` and a long word. */
const SECRET =
  /\b(sk-[A-Za-z0-9]{16,}|AKIA[A-Z0-9]{12,}|gh[pousr]_[A-Za-z0-9]{20,}|(api[_-]?key|token|secret)\s*[:=]\s*\S{12,})/i

function tagAdvice({ tags, format }: AgentRecord, isDeclaredTag: (tag: string) => boolean): string[] {
  if (format !== 'profile') return []
  if (tags.length === 0) return ['/tags is missing: filters by tag will not find the agent']
  const odd = tags.filter((tag) => tag !== tag.toLowerCase() || tag.length > 64 || /\s/.test(tag))
  const foreign = tags.filter((tag) => !isDeclaredTag(tag))
  return [
    ...(odd.length > 0 ? [`/tags should be short, lower-case and without spaces: ${some(odd)}`] : []),
    ...(foreign.length > 0 ? [`/tags are not in the taxonomies of this directory: ${some(foreign)}`] : []),
  ]
}

const some = (tags: string[]): string => tags.slice(0, 5).join(', ')

function exampleAdvice({ document }: AgentRecord): string[] {
  const examples = asObjects(document.examples)
  const repeated = firstRepeated(asStrings(examples.map(({ text }) => text ?? null)))
  return [
    ...(repeated === undefined ? [] : [`/examples has the same text twice: ${JSON.stringify(repeated)}`]),
    ...(examples.some(({ text }) => typeof text === 'string' && SECRET.test(text))
      ? ['/examples seem to contain a key or token']
      : []),
    ...(examples.some(({ id }) => id === undefined) ? ['/examples should each have a stable id'] : []),
  ]
}

function firstRepeated(texts: string[]): string | undefined {
  const seen = new Set<string>()
  return texts.find((text) => seen.has(text) || !seen.add(text))
}

/** Both ways to describe input and output are valid; operations can be told apart and chosen (AIDIP §3.2). */
function styleAdvice({ format, document }: AgentRecord): string[] {
  if (format !== 'aidip' || document.operations !== undefined) return []
  return ['/operations is recommended over inputs and outputs at the top level']
}

/** A version that changes with the meaning lets others notice (PROF §4.7). */
function versionAdvice({ format, version }: AgentRecord): string[] {
  return format === 'profile' && version === undefined
    ? ['/version should be there, and change with what the agent does']
    : []
}

function memberAdvice({ document, format }: AgentRecord): string[] {
  if (format !== 'profile') return []
  const plain = Object.keys(document).filter((name) => !isKnownMember(name) && !/[.:@]/.test(name))
  return plain.map(
    (name) => `/${pointerToken(name)} is a private extension: a name such as com.example.${name} cannot collide`,
  )
}

/** Schemas that are looked into, and pieces of advice given: registering must not take long for advice. */
const SCHEMAS = { most: 200, advice: 10 }

/** Parts of JSON Schemas that are ignored when calls are checked; the same advice once, with its first place. */
function schemaAdvice({ document }: AgentRecord): string[] {
  const places = new Map<string, string[]>()
  let left = SCHEMAS.most
  for (const { schema, at } of publishedSchemas(document)) {
    if (left-- <= 0) break
    for (const advice of lintSchema(schema)) {
      const keyword = advice.at.slice(advice.at.lastIndexOf('/'))
      const key = `${keyword} ${advice.message}`
      places.set(key, [...(places.get(key) ?? []), at + advice.at])
    }
  }
  return [...places].slice(0, SCHEMAS.advice).map(([key, [first = '', ...others]]) => {
    const message = key.slice(key.indexOf(' ') + 1)
    return `${first} ${message}${others.length > 0 ? ` (and in ${others.length} more places)` : ''}`
  })
}

/** An update that changes bindings, tags or examples should come with a new version (PROF §4.7). */
export function lintUpdate(before: AgentRecord, after: AgentRecord): string[] {
  if (before.format !== 'profile' || after.format !== 'profile' || after.version === undefined) return []
  const meaning = ({ document }: AgentRecord): JsonObject => pick(document, ['bindings', 'tags', 'examples'])
  if (before.version !== after.version || sameJson(meaning(before), meaning(after))) return []
  return [`/version is still ${after.version} although bindings, tags or examples changed`]
}

const pick = (document: JsonObject, names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, document[name] ?? null]))
