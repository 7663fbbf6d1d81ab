import { asObjects, isObject, type JsonObject } from './json.js'
import type { PublisherSchemas } from './publisher-schema.js'
import type { AgentRecord } from './record.js'

/** Status words of AIDIP §3.1 and PROF §4.8; others are kept but mean nothing to clients. */
export const STATUS_WORDS = ['active', 'inactive', 'suspended', 'deprecated', 'testing']

/** Members that some draft or this directory defines; others should have names that cannot collide (PROF §4.7). */
const KNOWN = new Set(
  `id name description version publisher provider vendor capabilities tags endpoint supported_languages authentication
  auth status operations inputs outputs input_schema output_schema protocols license certification quality_score
  last_update updated_at expires_at sequence visibility private examples bindings constraints signature base identity
  identity_type url transport supportedVersions skills interactionModel orchestration envelopeSchemas documentationUrl
  pricing rate_limits documentation data_retention`.split(/\s+/),
)

/**
 * Advice for publishers: what is accepted but will make the agent harder to find or to trust. Documents that would be
 * wrong are refused by `parseDocument`; these are only warned about.
 */
export function lintRecord(record: AgentRecord): string[] {
  return [...statusAdvice(record), ...descriptionAdvice(record), ...tagAdvice(record), ...exampleAdvice(record), ...memberAdvice(record)]
}

/** Examples that do not fit the schemas of their operation: the claim and the proof disagree (AIDIP §3.2). */
export function lintExamples(record: AgentRecord, schemas: PublisherSchemas): string[] {
  return asObjects(record.document.operations).flatMap((operation, i) =>
    asObjects(operation.examples).flatMap((example, j) =>
      (['input', 'output'] as const).flatMap((side) => {
        const schema = operation[`${side}s`] ?? operation[`${side}_schema`]
        const value = example[side]
        if (!isObject(schema) || value === undefined) return []
        const [issue] = schemas.check(schema, value)
        return issue ? [`/operations/${i}/examples/${j}/${side}${issue.at} does not fit the schema: it ${issue.message}`] : []
      }),
    ),
  )
}

function statusAdvice({ status }: AgentRecord): string[] {
  if (STATUS_WORDS.includes(status)) return []
  return [`/status "${status}" is not one of ${STATUS_WORDS.join(', ')}: clients may not understand it`]
}

function descriptionAdvice({ description, face }: AgentRecord): string[] {
  const advice: string[] = []
  if (description.length < 20) advice.push('/description is short: say purpose, domains, inputs, outputs and limits')
  const boast = /\b(best|perfect|guaranteed|world-class|unbeatable|flawless)\b/i.exec(description)
  if (boast) advice.push(`/description says "${boast[0]}": superlatives do not help to be found`)
  if (face === 'directory' && description.split(/[.!?](\s|$)/).filter((s) => s?.trim()).length > 2) {
    advice.push('/description should be one or two sentences')
  }
  if (SECRET.test(description)) advice.push('/description seems to contain a key or token: it is shown to everyone')
  return advice
}

/** Text that looks like a credential: a known prefix, or `key=` and a long word. */
const SECRET = /\b(sk-[A-Za-z0-9]{16,}|AKIA[A-Z0-9]{12,}|gh[pousr]_[A-Za-z0-9]{20,}|(api[_-]?key|token|secret)\s*[:=]\s*\S{12,})/i

function tagAdvice({ tags, face }: AgentRecord): string[] {
  if (tags.length === 0) return face === 'profile' ? ['/tags is missing: filters by tag will not find the agent'] : []
  const odd = tags.filter((tag) => tag !== tag.toLowerCase() || tag.length > 64 || /\s/.test(tag))
  return odd.length > 0 && face === 'profile' ? [`/tags should be short, lower-case and without spaces: ${odd.slice(0, 5).join(', ')}`] : []
}

function exampleAdvice({ document }: AgentRecord): string[] {
  const examples = asObjects(document.examples)
  const texts = examples.map(({ text }) => text)
  const repeated = texts.find((text, i) => typeof text === 'string' && texts.indexOf(text) !== i)
  return [
    ...(repeated === undefined ? [] : [`/examples has the same text twice: ${JSON.stringify(repeated)}`]),
    ...(examples.some(({ text }) => typeof text === 'string' && SECRET.test(text)) ? ['/examples seem to contain a key or token'] : []),
    ...(examples.some(({ id }) => id === undefined) ? ['/examples should each have a stable id'] : []),
  ]
}

function memberAdvice({ document, face }: AgentRecord): string[] {
  if (face !== 'profile') return []
  const plain = Object.keys(document).filter((name) => !KNOWN.has(name) && !/[.:@]/.test(name))
  return plain.map((name) => `/${name} is a private extension: a name such as com.example.${name} cannot collide`)
}

/** An update that changes bindings, tags or examples should come with a new version (PROF §4.7). */
export function lintUpdate(before: AgentRecord, after: AgentRecord): string[] {
  if (before.face !== 'profile' || after.face !== 'profile' || after.version === undefined) return []
  const meaning = ({ document }: AgentRecord): string => JSON.stringify(pick(document, ['bindings', 'tags', 'examples']))
  if (before.version !== after.version || meaning(before) === meaning(after)) return []
  return [`/version is still ${after.version} although bindings, tags or examples changed`]
}

const pick = (document: JsonObject, names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, document[name] ?? null]))
