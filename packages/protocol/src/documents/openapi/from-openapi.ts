import { isJsonType, mediaTypeOf } from '../../call/media-type.js'
import { DirectoryError, invalid } from '../../errors.js'
import { asObjects, asString, isObject, type JsonObject, type JsonValue } from '../../json.js'
import { given } from '../record.js'
import { DOCUMENT_LIMITS, LIMITS } from '../schemas/parts.js'
import { createSchemaReader, type SchemaReader } from './schemas.js'

/** Methods whose operations an agent offers. */
const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const
/** Methods that can be repeated without another effect (RFC 9110 §9.2.2). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['get', 'put', 'delete'])
/** Where a parameter is sent. Cookies are not: the directory sends none. */
const PLACES: ReadonlySet<string> = new Set(['path', 'query', 'header'])

/** The output of an operation that does not describe it. */
const ANY_VALUE: JsonObject = { type: ['object', 'array', 'string', 'number', 'boolean', 'null'] }

/**
 * The AIDIP metadata of an agent that is described by OpenAPI 3.0 or 3.1: its operations with their schemas and how each is
 * called, its server, its tags and its security scheme. Operations that are deprecated, need cookies, or have a body that is neither JSON nor a
 * form are left out. Throws an `invalid_request` if nothing is left that can be called.
 */
export function fromOpenApi(document: JsonObject): JsonObject {
  const metadata = toMetadata(document)
  const { length } = JSON.stringify(metadata)
  if (length <= DOCUMENT_LIMITS.bytes) return metadata
  throw new DirectoryError(
    'payload_too_large',
    `with the schemas of all operations the document has ${length} characters; ${DOCUMENT_LIMITS.bytes} are allowed: leave out operations that callers do not need`,
  )
}

function toMetadata(document: JsonObject): JsonObject {
  const info = isObject(document.info) ? document.info : {}
  const schemas = createSchemaReader(document)
  const required = requiredScheme(document, schemas)
  const operations = readOperations(document, schemas, required ? toKey(required.scheme) : {})
  const contact = isObject(info.contact) ? info.contact : {}
  const names = operations.map(({ name }) => String(name))
  const title = asString(info.title) ?? 'API'
  return {
    ...given('id', asString(document.id) ?? asString(info['x-agent-id'])),
    name: title,
    description: asString(info.description) ?? asString(info.summary) ?? title,
    ...given('version', asString(info.version)),
    ...given('publisher', asString(contact.name)),
    endpoint: readServer(document),
    capabilities: names,
    ...given('tags', tagsOf(document)),
    ...(required && { authentication: toAuthentication(required) }),
    operations,
    protocols: ['openapi'],
  }
}

function readServer({ servers }: JsonObject): string {
  const [server] = asObjects(servers)
  const variables = isObject(server?.variables) ? server.variables : {}
  const url = asString(server?.url)?.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const variable = variables[name]
    return (isObject(variable) && asString(variable.default)) || ''
  })
  if (url !== undefined && /^https?:\/\//.test(url) && URL.canParse(url)) return url
  throw invalid([
    { at: '/servers/0/url', message: 'must be the absolute URL of the API, such as https://api.example/v1' },
  ])
}

function tagsOf({ tags }: JsonObject): string[] | undefined {
  const names = asObjects(tags).flatMap(({ name }) => (typeof name === 'string' && name !== '' ? [name] : []))
  return names.length > 0 ? [...new Set(names)].slice(0, LIMITS.tags) : undefined
}

/** A security scheme, and the scopes that a token needs. */
interface RequiredScheme {
  readonly scheme: JsonObject
  readonly scopes: readonly string[]
}

/**
 * The first scheme that the whole API requires, or else its first operation that requires one: AIDIP describes one. A scheme whose
 * key is a cookie, which the directory does not send, is chosen only if there is no other.
 */
function requiredScheme(document: JsonObject, schemas: SchemaReader): RequiredScheme | undefined {
  const components = isObject(document.components) ? document.components : {}
  const all = isObject(components.securitySchemes) ? components.securitySchemes : {}
  const known = requirementsOf(document, schemas).flatMap((requirement) =>
    Object.entries(requirement).flatMap(([name, scopes]) =>
      Object.hasOwn(all, name) ? [{ scheme: schemas.resolve(all[name]), scopes: asNames(scopes) }] : [],
    ),
  )
  return known.find(({ scheme }) => scheme.in !== 'cookie') ?? known[0]
}

function requirementsOf(document: JsonObject, schemas: SchemaReader): JsonObject[] {
  if (document.security !== undefined) return asObjects(document.security)
  for (const value of Object.values(isObject(document.paths) ? document.paths : {})) {
    const item = schemas.resolve(value)
    for (const method of METHODS) {
      const operation = item[method]
      const own = isObject(operation) ? asObjects(operation.security) : []
      if (own.length > 0) return own
    }
  }
  return []
}

/** The types of AIDIP, by the type of a scheme, or the name of an HTTP scheme. */
const AUTHENTICATION_TYPES = new Map([
  ['apiKey', 'api_key'],
  ['mutualTLS', 'mtls'],
  ['bearer', 'oauth2_bearer'],
  ['oauth2', 'oauth2_bearer'],
  ['openIdConnect', 'oauth2_bearer'],
])

function toAuthentication({ scheme, scopes }: RequiredScheme): JsonObject {
  const kind = scheme.type === 'http' ? String(scheme.scheme).toLowerCase() : String(scheme.type)
  return {
    type: AUTHENTICATION_TYPES.get(kind) ?? kind,
    ...given('instructions', asString(scheme.description) ?? instructionsFor(scheme)),
    ...(scopes.length > 0 && { scopes: scopes.slice(0, LIMITS.texts) }),
  }
}

function instructionsFor({ type, in: place, name, flows, openIdConnectUrl }: JsonObject): string | undefined {
  if (type === 'apiKey' && place === 'cookie')
    return `The key is expected in the cookie ${name}, which this directory does not send: call the API directly.`
  if (type === 'apiKey') return `The key is sent as the ${place} parameter ${name}.`
  if (type === 'openIdConnect') return `Get a token from the issuer that ${openIdConnectUrl} describes.`
  const [tokenUrl] = Object.values(isObject(flows) ? flows : {}).flatMap((flow) =>
    isObject(flow) ? (asString(flow.tokenUrl) ?? []) : [],
  )
  return tokenUrl === undefined ? undefined : `Get a token at ${tokenUrl}.`
}

/** Where the key of the scheme is sent, unless it is a cookie, which the directory does not send. */
const toKey = ({ type, in: place, name }: JsonObject): JsonObject =>
  type === 'apiKey' && (place === 'header' || place === 'query') ? given('key', { place, name: String(name) }) : {}

function readOperations(document: JsonObject, schemas: SchemaReader, key: JsonObject): JsonObject[] {
  const taken = new Map<string, number>()
  const operations: JsonObject[] = []
  for (const [path, value] of Object.entries(isObject(document.paths) ? document.paths : {})) {
    const item = schemas.resolve(value)
    for (const method of METHODS) {
      const operation = item[method]
      if (operations.length === LIMITS.operations) return operations
      if (!isObject(operation) || operation.deprecated === true) continue
      operations.push(...readOperation({ method, path, item, operation, key }, schemas, taken))
    }
  }
  if (operations.length > 0) return operations
  throw invalid([{ at: '/paths', message: 'must have an operation that can be called with JSON or a form' }])
}

interface DescribedOperation {
  readonly method: string
  readonly path: string
  /** The item of the path, whose parameters all its operations have. */
  readonly item: JsonObject
  readonly operation: JsonObject
  /** Where the API key is sent. */
  readonly key: JsonObject
}

function readOperation(
  { method, path, item, operation, key }: DescribedOperation,
  schemas: SchemaReader,
  taken: Map<string, number>,
): JsonObject[] {
  const parameters = readParameters([item, operation], schemas)
  const body = readBody(operation.requestBody, parameters, schemas)
  if (body === 'unsupported' || parameters.some((each) => each.place === 'cookie' && each.required)) return []
  const sent = parameters.filter(({ place }) => PLACES.has(place))
  const properties: JsonObject = {
    ...Object.fromEntries(sent.map(({ name, schema }) => [name, schema])),
    ...body.properties,
  }
  const required = [...sent.flatMap(({ name, required: isRequired }) => (isRequired ? [name] : [])), ...body.required]
  const inputs: JsonObject = { type: 'object', properties, ...(required.length > 0 && { required }) }
  const outputs = readResponse(operation.responses, schemas)
  return [
    {
      name: uniqueName(asString(operation.operationId) ?? `${method}${path}`, taken),
      ...given('description', asString(operation.description) ?? asString(operation.summary)),
      inputs: withDefinitions(inputs, schemas),
      outputs: outputs ? withDefinitions(outputs, schemas) : ANY_VALUE,
      ...(IDEMPOTENT.has(method) && { idempotent: true }),
      ...(method === 'get' && { readOnly: true }),
      http: {
        method: method.toUpperCase(),
        path,
        parameters: Object.fromEntries(sent.map(({ name, place }) => [name, place])),
        ...body.http,
        ...key,
      },
    },
  ]
}

/** Characters of the name of an operation. */
const MAX_NAME = 200

/** @param taken how many operations have had a name */
function uniqueName(wanted: string, taken: Map<string, number>): string {
  const words = wanted.slice(0, MAX_NAME).match(/[\p{L}\p{N}.-]+/gu) ?? ['operation']
  const name = words.join('_')
  const count = (taken.get(name) ?? 0) + 1
  taken.set(name, count)
  return count === 1 ? name : uniqueName(`${name}_${count}`, taken)
}

const withDefinitions = (schema: JsonObject, schemas: SchemaReader): JsonObject => {
  const definitions = schemas.definitionsOf(schema)
  return Object.keys(definitions).length > 0 ? { ...schema, $defs: definitions } : schema
}

interface Parameter {
  readonly name: string
  readonly place: string
  readonly required: boolean
  readonly schema: JsonObject
}

/** The parameters of the path, which those of the operation replace. */
function readParameters(levels: readonly JsonObject[], schemas: SchemaReader): Parameter[] {
  const byName = new Map<string, Parameter>()
  for (const value of levels.flatMap(({ parameters }) => (Array.isArray(parameters) ? parameters : []))) {
    const { name, in: place, required, schema, content, description } = schemas.resolve(value)
    if (typeof name !== 'string' || typeof place !== 'string') continue
    const [media] = isObject(content) ? Object.values(content) : []
    const read = schemas.read(schema ?? (isObject(media) ? media.schema : undefined))
    byName.set(name, {
      name,
      place,
      required: required === true || place === 'path',
      schema: typeof description === 'string' && read.$ref === undefined ? { description, ...read } : read,
    })
  }
  return [...byName.values()]
}

interface Body {
  readonly properties: JsonObject
  readonly required: readonly string[]
  readonly http: JsonObject
}

const isJson = (type: string): boolean => isJsonType(mediaTypeOf(type))
const isForm = (type: string): boolean => mediaTypeOf(type) === 'application/x-www-form-urlencoded'

/** The members of the body become members of the input, unless it is not an object or a parameter has such a name. */
function readBody(
  value: JsonValue | undefined,
  parameters: readonly Parameter[],
  schemas: SchemaReader,
): Body | 'unsupported' {
  const { content, required: isRequired } = schemas.resolve(value)
  if (!isObject(content)) return { properties: {}, required: [], http: {} }
  const types = Object.keys(content)
  const type = types.find(isJson) ?? types.find(isForm)
  if (type === undefined) return isRequired === true ? 'unsupported' : { properties: {}, required: [], http: {} }
  const media = content[type]
  const given = isObject(media) ? media.schema : undefined
  const form: JsonObject = isForm(type) ? { form: true } : {}
  const { properties, required, ...rest } = schemas.read(schemas.resolve(given))
  const names = isObject(properties) ? Object.keys(properties) : []
  const isPlain = names.length > 0 && Object.keys(rest).every((name) => PLAIN.has(name))
  if (isObject(properties) && isPlain && !parameters.some(({ name }) => names.includes(name)))
    return { properties, required: asNames(required), http: form }
  const name = uniqueName('body', new Map(parameters.map((each) => [each.name, 1])))
  return {
    properties: { [name]: schemas.read(given) },
    required: isRequired === true ? [name] : [],
    http: { ...form, body: name },
  }
}

/** Members of a schema that say no more than that it is an object with properties. */
const PLAIN = new Set(['type', 'title', 'description', 'additionalProperties'])

const asNames = (value: JsonValue | undefined): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []

/** The schema of the first successful response with JSON. */
function readResponse(responses: JsonValue | undefined, schemas: SchemaReader): JsonObject | undefined {
  if (!isObject(responses)) return undefined
  const status = Object.keys(responses).find((code) => /^2(\d\d|XX)$/i.test(code))
  const { content } = schemas.resolve(status === undefined ? undefined : responses[status])
  if (!isObject(content)) return undefined
  const [, media] = Object.entries(content).find(([type]) => isJson(type)) ?? []
  return isObject(media) && isObject(media.schema) ? schemas.read(media.schema) : undefined
}
