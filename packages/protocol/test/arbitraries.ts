// Random documents of every format that the directory must accept and return, for the tests of this package and of the
// server. A publisher could send each of them, and they are unusual on purpose: unknown members with any value, members
// of other formats with the wrong type, names such as "constructor", "toString" and "7", any Unicode, empty arrays.
import fc from 'fast-check'
import { validateDocument } from '../src/documents/parse.js'
import type { DocumentFormat, RegistryFacts } from '../src/documents/record.js'
import type { JsonObject, JsonValue } from '../src/json.js'

/** Text without lone surrogates, which are not allowed in JSON documents. */
export const text = (constraints: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: 'binary', maxLength: 12, ...constraints })

const ODD_NAMES = [
  'constructor',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '7',
  '0',
  '-1',
  '',
  'a/b~c',
  '\u0000',
  'ключ',
  '🙂',
]

/** Names of members: unusual ones, plain ones, those of the drafts. The parser rejects `__proto__`. */
const memberName = fc
  .oneof(fc.constantFrom(...ODD_NAMES), text(), fc.string({ unit: 'grapheme-ascii', maxLength: 8 }))
  .filter((name) => name !== '__proto__')

/** Minus zero does not survive JSON. */
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })).map((n) => (n === 0 ? 0 : n))

/** Any JSON value, a few levels deep. */
export const jsonValue: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    text(),
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(memberName, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value

/** Any JSON object. */
export const jsonObject: fc.Arbitrary<JsonObject> = fc
  .array(fc.tuple(memberName, jsonValue), { maxLength: 4 })
  .map((entries) => Object.fromEntries(entries))

/** An id that every format accepts. */
export const agentId: fc.Arbitrary<string> = fc.oneof(
  fc.uuid(),
  fc.constantFrom('translator-001', 'https://agents.example.net/id/hr?x=1#y', '翻译', 'urn:a:b', 'a b', 'A%2Fb', '🙂'),
  fc.stringMatching(/^[a-z0-9][a-z0-9./:_-]{0,20}$/).filter((id) => id !== 'search' && id !== 'public'),
)

const path = fc.stringMatching(/^[a-z0-9/_.-]{0,12}$/).map((rest) => `/a${rest}`)
const uri = fc
  .tuple(fc.constantFrom('https', 'http', 'wss', 'agent', 'agent+https', 'grpc', 'HTTPS'), fc.domain(), path)
  .map(([scheme, host, rest]) => `${scheme}://${host}${rest}`)
const timestamp = fc
  .date({ min: new Date('1970-01-01T00:00:00Z'), max: new Date('2099-12-31T00:00:00Z'), noInvalidDate: true })
  .chain((date) => fc.constantFrom(date.toISOString(), date.toISOString().replace(/\.\d+Z$/, '+02:00')))
const texts = fc.array(text(), { maxLength: 4 })
const words = fc.array(fc.constantFrom('nlp', 'NLP', 'finance', 'zh', 'zh-CN', 'mcp', 'mcp/1.0', 'a2a', ''), {
  maxLength: 4,
})

/** A JSON Schema, or a simple map of names to types (C-09). */
export const ioDescription: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.dictionary(
    fc.constantFrom('text', 'type', 'constructor', '7', 'target language'),
    fc.constantFrom('string', 'number?', 'integer', 'boolean', 'array', 'object', 'null', 'any', 'file?'),
    { minKeys: 1, noNullPrototype: true },
  ),
  fc.constantFrom<JsonObject[]>(
    {},
    { type: 'object' },
    { type: 'object', properties: { text: { type: 'string' }, constructor: { type: 'string' } }, required: ['text'] },
    {
      $ref: '#/$defs/tree',
      $defs: { tree: { properties: { children: { type: 'array', items: { $ref: '#/$defs/tree' } } } } },
    },
    { type: 'array', items: { enum: ['en', 'zh'] }, 'x-note': { pattern: '(?=' } },
  ),
)

const visibility = fc.constantFrom('public', 'restricted', 'private')
const status = fc.oneof(fc.constantFrom('active', 'inactive', 'suspended', 'deprecated', 'testing'), text())
/** Members with the same meaning in every format. */
const shared = { visibility, private: fc.constant<string[]>([]) }

/** An object with the required members and some of the optional ones. */
const object = (
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>>,
): fc.Arbitrary<JsonObject> =>
  fc.record(
    { ...required, ...optional },
    { requiredKeys: Object.keys(required), noNullPrototype: true },
  ) as fc.Arbitrary<JsonObject>

/** An object as above with members that are unknown to its draft. */
const extended = (
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
): fc.Arbitrary<JsonObject> =>
  fc.tuple(jsonObject, object(required, optional)).map(([unknown, known]) => ({ ...unknown, ...known }))

const example = extended({}, { input: jsonObject, output: jsonObject })
const operation = extended(
  { name: text({ minLength: 1 }) },
  {
    description: text(),
    endpoint: uri,
    inputs: ioDescription,
    outputs: ioDescription,
    examples: fc.array(example, { maxLength: 2 }),
  },
)
const authentication = fc.oneof(
  fc.constantFrom('API Key', 'OAuth2', 'mTLS', 'none', 'constructor', 'something else'),
  extended(
    {},
    { type: fc.constantFrom('api_key', 'OAuth 2', 'none', 'own'), instructions: text(), scopes: texts, schemes: texts },
  ),
)

const aidip = extended(
  {
    name: text({ minLength: 1 }),
    description: text(),
    capabilities: fc.array(text(), { minLength: 1, maxLength: 4 }),
    endpoint: fc.oneof(uri, path),
    operations: fc.array(operation, { minLength: 1, maxLength: 3 }),
  },
  {
    ...shared,
    version: text(),
    publisher: text(),
    provider: fc.oneof(text(), fc.constant({ organization: 'Example' })),
    tags: words,
    supported_languages: words,
    authentication,
    status,
    inputs: ioDescription,
    outputs: ioDescription,
    protocols: words,
    license: text(),
    certification: jsonObject,
    last_update: text(),
    updated_at: timestamp,
    expires_at: timestamp,
    sequence: fc.integer(),
  },
)

/** The style of AIDIP-00: inputs and outputs at the top level, authentication and provider as strings. */
const aidip00 = extended(
  {
    name: text({ minLength: 1 }),
    description: text(),
    capabilities: fc.array(text(), { minLength: 1, maxLength: 4 }),
    endpoint: fc.oneof(uri, path),
    inputs: ioDescription,
    outputs: ioDescription,
    authentication: fc.constantFrom('API Key', 'OAuth2', 'mTLS', 'none'),
  },
  {
    ...shared,
    provider: text(),
    tags: words,
    version: text(),
    license: text(),
    certification: jsonObject,
    last_update: text(),
  },
)

const profile = extended(
  {
    name: text({ minLength: 1 }),
    description: text(),
    bindings: fc.array(
      extended(
        {
          protocol: fc.constantFrom('https', 'mcp', 'a2a', 'grpc', 'x'),
          endpoint: fc.oneof(uri, path, text({ minLength: 1 })),
        },
        { media_types: texts, interaction_model: text(), priority: fc.integer() },
      ),
      { minLength: 1, maxLength: 3 },
    ),
  },
  {
    ...shared,
    tags: words,
    examples: fc.array(
      extended(
        { text: text() },
        { id: text(), tags: words, input_schema: ioDescription, output_schema: ioDescription, language: text() },
      ),
      { maxLength: 3 },
    ),
    auth: extended({}, { type: text(), schemes: texts, scopes: texts }),
    constraints: jsonObject,
    status,
    version: text(),
    updated_at: timestamp,
    expires_at: timestamp,
    sequence: fc.integer(),
    signature: extended({}, { kid: text() }),
  },
)

const directory = extended(
  { base: uri },
  {
    ...shared,
    description: text(),
    protocols: words,
    capabilities: fc.uniqueArray(
      extended(
        {
          name: fc.constantFrom('search', 'public', '..', 'a', 'b', 'translate', '翻译', 'constructor'),
          type: fc.constantFrom('tool', 'skill', 'resource', 'prompt', 'workflow', ''),
        },
        { description: text(), tags: words, input_schema: ioDescription, output_schema: ioDescription },
      ),
      { maxLength: 4, selector: ({ name }) => name },
    ),
    version: text(),
    vendor: text(),
    identity: text(),
    identity_type: text(),
  },
)

const skill = extended(
  { id: text({ minLength: 1 }), name: text() },
  { description: text(), tags: words, examples: texts },
)

const descriptor = extended(
  { name: text({ minLength: 1 }) },
  {
    ...shared,
    '@context': fc.oneof(text(), jsonObject),
    description: text(),
    version: text(),
    url: fc.oneof(uri, text()),
    endpoint: fc.oneof(uri, text()),
    transport: fc.oneof(
      text(),
      fc.dictionary(fc.constantFrom('https', 'wss', 'unix', ''), fc.oneof(uri, object({}, { endpoint: uri })), {
        noNullPrototype: true,
      }),
    ),
    supportedVersions: fc.dictionary(fc.constantFrom('3.0.0', '1.0', 'x'), path, { noNullPrototype: true }),
    capabilities: fc.oneof(
      fc.array(
        extended(
          { name: text({ minLength: 1 }) },
          {
            version: text(),
            description: text(),
            tags: words,
            input: ioDescription,
            output: ioDescription,
            isDeterministic: fc.boolean(),
            responseLatency: fc.constantFrom('low', 'medium', 'high'),
          },
        ),
        { maxLength: 3 },
      ),
      extended({}, { streaming: fc.boolean() }),
    ),
    skills: fc.array(skill, { maxLength: 2 }),
    authentication: fc.oneof(
      authentication,
      extended(
        {},
        { type: fc.constantFrom('api_key', 'own'), schemes: texts, scopes: jsonValue, instructions: jsonValue },
      ),
    ),
    interactionModel: text(),
    envelopeSchemas: texts,
    versionNegotiation: jsonObject,
  },
)

const cardMembers = {
  name: text({ minLength: 1 }),
  description: text(),
  version: text(),
  capabilities: extended({}, { streaming: fc.boolean() }),
  skills: fc.array(skill, { maxLength: 3 }),
}
const cardOptions = {
  ...shared,
  provider: extended({}, { organization: text(), url: uri }),
  defaultInputModes: texts,
  defaultOutputModes: texts,
}

const a2a03 = extended(
  { ...cardMembers, url: fc.oneof(uri, text({ minLength: 1 })), protocolVersion: fc.constant('0.3.0') },
  {
    ...cardOptions,
    preferredTransport: text(),
    additionalInterfaces: fc.array(extended({ url: uri, transport: text() }), { maxLength: 2 }),
    securitySchemes: fc.constantFrom(
      {},
      { k: { type: 'apiKey', in: 'header', name: 'X' } },
      { constructor: { type: 'mutualTLS' } },
    ),
  },
)

const a2a10 = extended(
  {
    ...cardMembers,
    supportedInterfaces: fc.array(
      extended(
        { url: uri, protocolBinding: fc.constantFrom('JSONRPC', 'GRPC', 'HTTP+JSON') },
        { protocolVersion: text() },
      ),
      { minLength: 1, maxLength: 2 },
    ),
  },
  {
    ...cardOptions,
    securitySchemes: fc.constantFrom(
      {},
      { o: { oauth2SecurityScheme: { flows: {} } } },
      { a: { apiKeySecurityScheme: {} } },
    ),
  },
)

const mcp = extended(
  { name: text({ minLength: 1 }), description: text(), version: text() },
  {
    ...shared,
    title: text(),
    websiteUrl: text(),
    repository: jsonObject,
    remotes: fc.array(
      extended({ type: fc.constantFrom('streamable-http', 'sse'), url: fc.oneof(uri, text({ minLength: 1 })) }),
      { maxLength: 3 },
    ),
    packages: fc.array(
      extended(
        { registryType: fc.constantFrom('npm', 'pypi', ''), identifier: text({ minLength: 1 }) },
        { version: text() },
      ),
      { maxLength: 2 },
    ),
  },
)

/** Kinds of documents that can be registered: AIDIP and A2A have two each. */
export const KINDS = ['aidip', 'aidip00', 'profile', 'directory', 'descriptor', 'a2a03', 'a2a10', 'mcp'] as const
export type Kind = (typeof KINDS)[number]

const DOCUMENT_FORMATS: Record<Kind, DocumentFormat> = {
  aidip: 'aidip',
  aidip00: 'aidip',
  profile: 'profile',
  directory: 'directory',
  descriptor: 'descriptor',
  a2a03: 'a2a',
  a2a10: 'a2a',
  mcp: 'mcp',
}

const DOCUMENTS: Record<Kind, fc.Arbitrary<JsonObject>> = {
  aidip,
  aidip00,
  profile,
  directory,
  descriptor,
  a2a03,
  a2a10,
  mcp,
}

/** Members of all formats, which a document of another format may have with any value. */
const FOREIGN_NAMES = [
  ...[
    'id',
    'name',
    'description',
    'version',
    'publisher',
    'provider',
    'vendor',
    'capabilities',
    'tags',
    'endpoint',
    'url',
  ],
  ...[
    'supported_languages',
    'authentication',
    'auth',
    'status',
    'operations',
    'inputs',
    'outputs',
    'input_schema',
    'protocols',
  ],
  ...[
    'license',
    'updated_at',
    'expires_at',
    'sequence',
    'examples',
    'bindings',
    'constraints',
    'signature',
    'base',
    'identity',
  ],
  ...[
    'transport',
    'supportedVersions',
    'skills',
    'interactionModel',
    'envelopeSchemas',
    'supportedInterfaces',
    'remotes',
  ],
  ...['additionalInterfaces', 'securitySchemes', 'title', 'packages', 'freshness', 'agent', 'lt', 'href', 'security'],
]

/** A list as another format has it, with some items valid and some not. */
const nearlyList = fc.array(
  fc.dictionary(
    fc.constantFrom(
      'name',
      'id',
      'type',
      'protocol',
      'endpoint',
      'url',
      'text',
      'tags',
      'priority',
      'media_types',
      'examples',
      'description',
      'inputs',
    ),
    fc.oneof(text({ minLength: 1 }), uri, words, jsonValue),
    { noNullPrototype: true },
  ),
  { maxLength: 4 },
)

export interface SentDocument {
  format: DocumentFormat
  id: string
  document: JsonObject
}

/** A document that is valid in its format, and the id it is registered under. */
export function sentDocument(kind: Kind): fc.Arbitrary<SentDocument> {
  const format = DOCUMENT_FORMATS[kind]
  const value = fc.oneof(jsonValue, nearlyList, words)
  const foreign = fc.array(fc.tuple(fc.constantFrom(...FOREIGN_NAMES), value), { maxLength: 4 })
  return fc
    .tuple(agentId, foreign, DOCUMENTS[kind])
    .map(([id, extra, own]): SentDocument => {
      // If the draft has an id in the document, it is the registered one; in the directory it is in the query instead.
      const identity = format === 'profile' || (format !== 'directory' && own.id !== undefined) ? { id } : {}
      return { format, id, document: { ...Object.fromEntries(extra), ...own, ...identity } }
    })
    .filter(({ document }) => validateDocument(format, document).length === 0)
}

/** Facts that a directory could have about an agent. */
export const registryFacts: fc.Arbitrary<RegistryFacts> = fc.record(
  {
    baseUrl: fc.constantFrom('http://127.0.0.1:8040', 'https://agents.example.net/base'),
    number: fc.nat(),
    verification: fc.constant<JsonObject>({ state: 'self-asserted' }),
    lifetime: fc.integer({ min: 60, max: 604_800 }),
    receivedAt: fc.constant(Date.parse('2026-05-08T00:00:00Z')),
    modifiedAt: fc.constant(Date.parse('2026-05-09T00:00:00Z')),
    certification: jsonObject,
    qualityScore: fc.double({ min: 0, max: 5, noNaN: true }),
    unsafe: fc.boolean(),
    status: fc.constantFrom('active', 'suspended'),
    expiresAt: fc.constant(Date.parse('2027-01-01T00:00:00Z')),
  },
  {
    requiredKeys: ['baseUrl', 'number', 'verification', 'lifetime', 'receivedAt', 'modifiedAt'],
    noNullPrototype: true,
  },
)
