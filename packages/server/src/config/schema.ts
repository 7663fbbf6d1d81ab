import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { MAX_QUERIES, PEER_PROTOCOLS, TRUST_LEVELS } from '../policy/federation.js'

const text: JsonObject = { type: 'string' }
const texts: JsonObject = { type: 'array', items: text }
const flag: JsonObject = { type: 'boolean' }
const url: JsonObject = { type: 'string', format: 'absolute-uri' }
const count: JsonObject = { type: 'integer', minimum: 1 }
const closed = (properties: JsonObject, required: string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** JSON Schema of the config file (CONTRACT). */
export const configSchema: JsonObject = closed({
  host: text,
  port: { type: 'integer', minimum: 0 },
  data: text,
  database: text,
  publicUrl: text,
  tlsCert: text,
  tlsKey: text,
  tlsClientCa: text,
  tlsClientCrl: text,
  tlsClientRequired: flag,
  behindProxy: flag,
  logLevel: text,
  accessLog: flag,
  telemetry: closed({
    otlp: closed({
      url,
      headers: { type: 'object', additionalProperties: text },
      serviceName: text,
      sampleRatio: { type: 'number', minimum: 0, maximum: 1 },
    }),
  }),
  connections: closed({ max: count, maxPerAddress: count, stallTimeoutMs: count }),
  shutdown: closed({ delayMs: { type: 'integer', minimum: 0, maximum: 60_000 } }),
  rateLimits: closed({ search: count, register: count, lookup: count, invoke: count }),
  quotas: closed({ agents: count, bytes: count }),
  gateway: closed({
    enabled: flag,
    sign: flag,
    timeoutMs: count,
    maxInputBytes: count,
    maxInputValues: count,
    maxResponseValues: count,
    maxCalls: count,
    maxCallsPerAgent: count,
    maxCallsPerCaller: count,
    maxStoredBytesPerCaller: count,
    allow: texts,
    socketFolders: texts,
  }),
  search: closed({
    semantic: flag,
    learn: flag,
    rerankLimit: { type: 'integer', minimum: 1, maximum: 1000 },
    embedTimeoutMs: { type: 'integer', minimum: 1, maximum: 60_000 },
    embedder: {
      anyOf: [
        { enum: ['builtin', 'static', 'none'] },
        closed({ folder: text, languages: texts }, ['folder']),
        closed({ url: text, model: text, key: text, dimensions: count, languages: texts }, ['url', 'model']),
      ],
    },
    lexicon: {
      type: 'array',
      items: closed({ language: { type: 'string', pattern: '^[a-z]{2,3}$' }, path: text }, ['language', 'path']),
    },
    taxonomies: {
      type: 'array',
      items: closed(
        {
          name: text,
          uri: text,
          tags: {
            type: 'object',
            additionalProperties: closed({ broader: texts, same: texts, synonyms: texts }),
          },
        },
        ['name', 'tags'],
      ),
    },
  }),
  resolution: closed({ enabled: flag }),
  anonymous: { enum: ['public', 'none'] },
  lifetimes: closed({ max: { type: 'integer', minimum: 60 } }),
  issuers: {
    type: 'array',
    items: closed(
      {
        issuer: text,
        audience: { anyOf: [text, texts] },
        jwksUrl: url,
        subjects: { enum: ['plain', 'qualified'] },
        trustDomains: { type: 'array', items: { type: 'string', pattern: '^[a-z0-9._-]{1,255}$' } },
        scopes: {
          type: 'array',
          items: closed(
            {
              claim: { anyOf: [text, { ...texts, minItems: 1 }] },
              values: { type: 'object', additionalProperties: texts },
            },
            ['claim'],
          ),
        },
        introspection: closed(
          {
            url,
            clientId: text,
            clientSecretFile: text,
            clientSecretVariable: text,
            opaque: flag,
            jwts: flag,
            cacheSeconds: count,
          },
          ['url', 'clientId'],
        ),
      },
      ['issuer', 'audience'],
    ),
  },
  peers: {
    type: 'array',
    items: closed(
      {
        name: text,
        url,
        token: text,
        tokenFile: text,
        trust: { enum: [...TRUST_LEVELS] },
        intervalSeconds: count,
        tags: texts,
        publishers: texts,
        rankWeight: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
        maxAgents: count,
        keepSeconds: { type: 'integer', minimum: 60 },
        protocol: { enum: [...PEER_PROTOCOLS] },
        queries: { ...texts, maxItems: MAX_QUERIES },
      },
      ['name', 'url'],
    ),
  },
  certificates: closed({ scopes: texts }),
  cors: closed({ origins: texts }),
  keys: closed({ maxStaleSeconds: { type: 'integer', minimum: 0 } }),
  audit: closed({ retentionDays: count, addresses: flag }),
  signatures: closed({ intervalSeconds: { type: 'integer', minimum: 10 } }),
  liveness: closed({ enabled: flag, intervalSeconds: { type: 'integer', minimum: 10 } }),
  probes: closed({ enabled: flag, intervalSeconds: { type: 'integer', minimum: 60 } }),
  mdns: closed({ enabled: flag, name: { type: 'string', minLength: 1, maxLength: 63 }, interfaces: texts }),
  crawl: closed({
    enabled: flag,
    urls: texts,
    intervalSeconds: { type: 'integer', minimum: 60 },
    pauseMs: { type: 'integer', minimum: 100 },
    maxAgentsPerSite: { type: 'integer', minimum: 1, maximum: 1000 },
    contact: { type: 'string', pattern: '^[!-~]{1,200}$' },
  }),
  policy: closed({
    names: { type: 'array', items: closed({ names: texts, subjects: texts }, ['names', 'subjects']) },
    owners: { type: 'array', items: closed({ names: texts, subject: text }, ['names', 'subject']) },
    capabilities: { type: 'array', items: closed({ name: text, type: text, subjects: texts, scope: text }) },
    schemes: texts,
    strict01: flag,
    lenientCapabilities: flag,
    refuseUnknownMembers: flag,
    strictExamples: flag,
    strictOutputs: flag,
    strictSignatures: flag,
    requireDomainProof: flag,
  }),
})

/** The first unknown key, and the known key that is most similar to it. */
export function nearestKey(
  settings: JsonValue,
  schema: JsonObject = configSchema,
  path = '',
): { key: string; nearest: string } | undefined {
  if (!isObject(settings) || !isObject(schema.properties)) return undefined
  const known = Object.keys(schema.properties)
  for (const [name, value] of Object.entries(settings)) {
    const inner = schema.properties[name]
    if (!Object.hasOwn(schema.properties, name)) {
      const [nearest = ''] = known.sort((a, b) => distance(name, a) - distance(name, b))
      return { key: path + name, nearest: path + nearest }
    }
    const deeper = isObject(inner) ? nearestKey(value, inner, `${path}${name}.`) : undefined
    if (deeper) return deeper
  }
  return undefined
}

/** Levenshtein distance, ignoring case. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a.toLowerCase()].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b.toLowerCase()].entries()) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
