import { asObjects, asStrings, isObject, type JsonObject, pointerToken, sameJson } from '../json.js'
import { lintSchema, type PublisherSchemas } from '../schema/publisher-schema.js'
import { publishedSchemas } from './parse.js'
import type { AgentRecord } from './record.js'
import { isKnownMember } from './schemas/formats.js'

/** The statuses of AIDIP §3.1 and PROF §4.8. Others are kept, but clients do not know them. */
export const STATUS_WORDS = ['active', 'inactive', 'suspended', 'deprecated', 'testing']

export interface LintOptions {
  /** Whether a tag is in one of the taxonomies of the directory; default: every tag is (PROF §4.4). */
  isDeclaredTag?: (tag: string) => boolean
}

/**
 * Advice for publishers: what is accepted but makes the agent harder to find or to trust. `parseDocument` rejects
 * documents that are wrong; these are only warnings.
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

/** Limits of the examples that are checked, and of the steps for each: advice must not slow down registration. */
const EXAMPLES = { most: 200, steps: 10_000 }

/** Warns about examples that do not match the schemas of their operation (AIDIP §3.2). */
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
      return issue ? [`${at}/${side}${issue.at} does not match the schema: it ${issue.message}`] : []
    }),
  )
}

/** Names in the Agent Directory are read and typed by people (AD §4.1). */
function nameAdvice({ id, format }: AgentRecord): string[] {
  if (format !== 'directory') return []
  if ([...id].length > 64) return ['?agent is long: a short name is easier to use']
  return /\p{L}{2}/u.test(id) ? [] : ['?agent should be a descriptive name']
}

function statusAdvice({ status }: AgentRecord): string[] {
  if (STATUS_WORDS.includes(status)) return []
  return [`/status "${status}" is not one of ${STATUS_WORDS.join(', ')}: clients may not understand it`]
}

function descriptionAdvice({ description, format }: AgentRecord): string[] {
  const advice: string[] = []
  if (description.length < 20)
    advice.push('/description is short: describe purpose, domains, inputs, outputs and limits')
  const boast = /\b(best|perfect|guaranteed|world-class|unbeatable|flawless)\b/i.exec(description)
  if (boast)
    advice.push(`/description says "${boast[0]}": leave out superlatives, they do not help users to find the agent`)
  if (format === 'directory' && description.split(/[.!?](\s|$)/).filter((s) => s?.trim()).length > 2) {
    advice.push('/description should be one or two sentences')
  }
  if (SECRET.test(description))
    advice.push('/description seems to contain a key or token: remove it, everyone can read the description')
  return advice
}

/** Text that looks like a credential: a known prefix, or `key=` with a long value. */
const SECRET =
  /\b(sk-[A-Za-z0-9]{16,}|AKIA[A-Z0-9]{12,}|gh[pousr]_[A-Za-z0-9]{20,}|(api[_-]?key|token|secret)\s*[:=]\s*\S{12,})/i

function tagAdvice({ tags, format }: AgentRecord, isDeclaredTag: (tag: string) => boolean): string[] {
  if (format !== 'profile') return []
  if (tags.length === 0) return ['/tags is missing: searches that filter by tag will not find the agent']
  const odd = tags.filter((tag) => tag !== tag.toLowerCase() || tag.length > 64 || /\s/.test(tag))
  const joined = tags.filter((tag) => SEVERAL_THINGS.test(tag))
  const foreign = tags.filter((tag) => !isDeclaredTag(tag))
  return [
    ...(odd.length > 0 ? [`/tags should be short, lower-case and without spaces: ${some(odd)}`] : []),
    ...(joined.length > 0 ? [`/tags should name one thing each: split ${some(joined)}`] : []),
    ...(foreign.length > 0 ? [`/tags are not in the taxonomies of this directory: ${some(foreign)}`] : []),
  ]
}

/** Tags that are lists, such as "law,tax" or "law-and-tax" (PROF §4.4). */
const SEVERAL_THINGS = /[,;|&]|[\s_-](and|or)[\s_-]/i

const some = (tags: string[]): string => tags.slice(0, 5).join(', ')

function exampleAdvice({ document }: AgentRecord): string[] {
  const examples = asObjects(document.examples)
  const repeated = firstRepeated(asStrings(examples.map(({ text }) => text ?? null)))
  return [
    ...(repeated === undefined ? [] : [`/examples has the same text twice: ${JSON.stringify(repeated)}`]),
    ...(examples.some(({ text }) => typeof text === 'string' && SECRET.test(text))
      ? ['/examples seem to contain a key or token: remove it, everyone can read them']
      : []),
    ...(examples.some(({ id }) => id === undefined) ? ['/examples should each have a stable id'] : []),
  ]
}

function firstRepeated(texts: string[]): string | undefined {
  const seen = new Set<string>()
  return texts.find((text) => seen.has(text) || !seen.add(text))
}

/** Both ways to describe input and output are valid; operations let callers choose (AIDIP §3.2). */
function styleAdvice({ format, document }: AgentRecord): string[] {
  if (format !== 'aidip' || document.operations !== undefined) return []
  return ['/operations is recommended over inputs and outputs at the top level']
}

/** A version lets clients notice that the agent has changed (PROF §4.7). */
function versionAdvice({ format, version }: AgentRecord): string[] {
  return format === 'profile' && version === undefined
    ? ['/version is missing: add one, and change it when the agent changes']
    : []
}

function memberAdvice({ document, format }: AgentRecord): string[] {
  if (format !== 'profile') return []
  const plain = Object.keys(document).filter((name) => !isKnownMember(name) && !/[.:@]/.test(name))
  return plain.map(
    (name) => `/${pointerToken(name)} is not a known member: a name such as com.example.${name} avoids collisions`,
  )
}

/** Limits of the schemas that are checked and of the warnings. */
const SCHEMAS = { most: 200, advice: 10 }

/** Warns about parts of JSON Schemas that are ignored when calls are checked; each once, with its first place. */
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

/** Warns about an update that changes bindings, tags or examples but not the version (PROF §4.7). */
export function lintUpdate(before: AgentRecord, after: AgentRecord): string[] {
  if (before.format !== 'profile' || after.format !== 'profile' || after.version === undefined) return []
  const versioned = ({ document }: AgentRecord): JsonObject => pick(document, ['bindings', 'tags', 'examples'])
  if (before.version !== after.version || sameJson(versioned(before), versioned(after))) return []
  return [`/version is still ${after.version} although bindings, tags or examples changed`]
}

const pick = (document: JsonObject, names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, document[name] ?? null]))
