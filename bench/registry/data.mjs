// The agents that the benchmark registers, and the lookups it makes.
import { existsSync, readFileSync } from 'node:fs'

/** The size of the load set. */
const MADE_UP = 48_039
/** Size of the documents that are registered one by one, in bytes. */
const ABOUT_A_KILOBYTE = [800, 1300]

/** @typedef {Record<string, unknown> & { id: string, tags: string[], protocols?: string[] }} Document */

/**
 * AIDIP documents of the load set, or synthetic ones that are the same in every run.
 * @returns {{ source: string, documents: Document[] }}
 */
export function readAgents(file, limit) {
  const records = existsSync(file)
    ? readFileSync(file, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : Array.from(synthesize(MADE_UP))
  const source = existsSync(file) ? file : 'synthetic'
  return { source, documents: records.slice(0, limit).map(toDocument) }
}

/** Converts an entry of the load set to an AIDIP document. */
function toDocument({ id, name, description, tags, operations, languages, source }) {
  return {
    id,
    name,
    description,
    version: '1.0.0',
    publisher: source,
    capabilities: [
      name
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-')
        .slice(0, 64) || 'serve',
    ],
    tags,
    endpoint: `https://agents.example/${encodeURIComponent(id)}`,
    protocols: /mcp/.test(source) ? ['mcp'] : /skill/.test(source) ? ['https', 'a2a'] : ['https'],
    ...(languages && { supported_languages: languages }),
    ...(operations.length > 0 ? { operations: operations.map(toOperation) } : TEXT_TO_TEXT),
  }
}

/** Schemas for agents without operations. */
const TEXT_TO_TEXT = {
  inputs: { type: 'object', properties: { text: { type: 'string' } } },
  outputs: { type: 'object', properties: { text: { type: 'string' } } },
}

const toOperation = ({ name, description, inputSchema }) => ({
  name,
  description,
  ...(inputSchema && { inputs: toJsonSchema(inputSchema) }),
})

/** Some entries have Swagger 2 schemas with types that JSON Schema does not know, such as "file". */
const toJsonSchema = (schema) => JSON.parse(JSON.stringify(schema).replaceAll(FOREIGN_TYPE, '"type":"string"'))
const FOREIGN_TYPE = /"type":"(?!(?:array|boolean|integer|null|number|object|string)")[^"\\]*"/g

/** Documents of about 1 KB, to be registered one by one; their ids are replaced. */
export function kilobyteDocuments(documents) {
  const [least, most] = ABOUT_A_KILOBYTE
  return documents.filter((document) => {
    const { length } = JSON.stringify(document)
    return length >= least && length <= most
  })
}

/**
 * Lookups with two filters, protocol and tag or type and tag, grouped by the number of agents they find.
 * @returns {{ few: string[], some: string[], many: string[] }}
 */
export function lookups(documents) {
  const hits = new Map()
  const count = (query) => hits.set(query, (hits.get(query) ?? 0) + 1)
  const tagged = new Map()
  for (const { tags, protocols } of documents) {
    const unique = new Set(tags)
    for (const tag of unique) {
      const asked = `tag=${encodeURIComponent(tag)}`
      tagged.set(asked, (tagged.get(asked) ?? 0) + 1)
      for (const protocol of protocols) count(`protocol=${protocol}&${asked}`)
      // Capabilities are skills, operations are tools; every agent has both.
      for (const type of ['skill', 'tool']) count(`cap_type=${type}&${asked}`)
    }
  }
  const between = (least, most, keep = () => true) =>
    [...hits]
      .filter(([query, found]) => found >= least && found <= most && keep(query))
      .map(([query]) => query)
      .sort()
  const total = documents.length
  // Each filter alone finds many agents, so that the intersection takes work.
  const isCommon = (query) => (tagged.get(query.slice(query.indexOf('&') + 1)) ?? 0) > total / 1000
  return {
    few: spread(between(1, 5, isCommon), 40).map((query) => `/ad/l?${query}`),
    some: spread(between(10, total), 40).map((query) => `/ad/l?${query}&count=10`),
    many: spread(between(100, total), 40).map((query) => `/ad/l?${query}`),
  }
}

/** Evenly spaced items of a list. */
export function spread(list, wanted) {
  if (list.length <= wanted) return list
  return Array.from({ length: wanted }, (_, i) => list[Math.floor((i * list.length) / wanted)])
}

/** Shuffles a list, the same way in every run, so that caches do not benefit from the order. */
export function shuffle(list, random = seeded(7)) {
  const shuffled = [...list]
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const item = shuffled[i]
    shuffled[i] = shuffled[j]
    shuffled[j] = item
  }
  return shuffled
}

const WORDS = `account agent alert analysis answer archive assistant audio audit backup booking browser budget calendar
  chart chat check claim code compare contract convert course customer data database deploy design device document draft
  email error event export extract file filter finance forecast form gateway generate graph health image import index
  insight invoice issue item journal knowledge language ledger legal list log mail map market match meeting memory message
  metric model monitor network note notify number optimise order page parse payment plan policy price process project
  prompt query queue reader record release report request review risk route sales schedule schema score script search
  security send sensor service sheet shop signal source speech stock story summary support sync table task team test text
  ticket token tool track train translate travel trend update user vector video vision voice weather web workflow`
  .split(/\s+/)
  .filter(Boolean)

const SOURCES = ['mcp-index', 'skill-list', 'api-list']

/** Synthetic agents that resemble the load set in size and tag frequencies. */
function* synthesize(count) {
  const random = seeded(1)
  const any = () => WORDS[Math.floor(random() * WORDS.length)]
  // Each source has its own tags with a skewed distribution; a few agents have a tag of another source.
  const share = Math.floor(WORDS.length / SOURCES.length)
  const tagOf = (source) => WORDS[source * share + Math.floor(random() ** 2 * share)]
  const tagsOf = (source) => [
    ...Array.from({ length: 1 + Math.floor(random() * 3) }, () => tagOf(source)),
    ...(random() < 0.002 ? [tagOf((source + 1) % SOURCES.length)] : []),
  ]
  const text = (least, most) => Array.from({ length: least + Math.floor(random() * (most - least)) }, any).join(' ')
  for (let i = 0; i < count; i++) {
    const long = random() < 0.1
    yield {
      id: `synthetic/${i}/${any()}-${any()}`,
      name: `${any()} ${any()}`,
      description: text(15, long ? 140 : 50),
      tags: [...new Set(tagsOf(i % SOURCES.length))],
      operations: Array.from({ length: random() < 0.05 ? 1 + Math.floor(random() * 15) : 0 }, (_, n) => ({
        name: `${any()}_${n}`,
        description: text(5, 20),
        inputSchema: { type: 'object', properties: { [any()]: { type: 'string', description: text(3, 8) } } },
      })),
      source: SOURCES[i % SOURCES.length],
    }
  }
}

/** A seeded random number generator (mulberry32), 0 to 1. */
export function seeded(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
