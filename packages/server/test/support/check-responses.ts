import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { componentsOf } from '../../src/faces/schemas/component.js'
import { errorResponse } from '../../src/faces/schemas/error.js'

export interface CheckedResponses {
  /** The operations and statuses so far, as in `GET /agents/{id} 200`. */
  readonly seen: ReadonlySet<string>
  /** Throws if a response differed from what its route declares. */
  assertDeclared(): void
}

/**
 * Compares every response of a directory with what its route declares, from which /openapi.json is made: the status, the
 * media type, and the body, which may have no member that is not declared.
 */
export function checkResponses(app: FastifyInstance): CheckedResponses {
  const problems = new Set<string>()
  const seen = new Set<string>()
  app.addHook('onSend', (request, reply, payload, done) => {
    const { route } = request.routeOptions.config
    const path = (route?.aliasOf ?? route?.path ?? '').replaceAll(/:(\w+)/g, '{$1}')
    const name = `${request.method} ${path} ${reply.statusCode}`
    seen.add(name)
    const problem = problemOf(request, reply, payload)
    if (problem !== undefined) problems.add(`${name}: ${problem}`)
    done(null, payload)
  })
  return {
    seen,
    assertDeclared() {
      if (problems.size > 0)
        throw new Error(`responses differ from the declarations of their routes:\n${[...problems].join('\n')}`)
    },
  }
}

function problemOf(request: FastifyRequest, reply: FastifyReply, payload: unknown): string | undefined {
  const { route, group } = request.routeOptions.config
  // HEAD has no body, and pages are not part of the API.
  if (!route || !group || request.method !== route.method || route.isPage) return undefined
  const { statusCode } = reply
  if (statusCode === CLIENT_GONE) return undefined
  const declared = route.responses[statusCode]
  const isError = statusCode >= 400
  if (declared === undefined && !isError) return 'is not declared'
  const response = isError && typeof declared !== 'object' ? errorResponse(group, 'an error') : declared
  if (typeof response !== 'object' || Object.keys(response.content).length === 0)
    return isEmpty(payload) ? undefined : 'has a body, but declares none'
  const [type = ''] = String(reply.getHeader('content-type') ?? '').split(';')
  const schema = response.content[type] ?? response.content['*/*']
  if (!schema) return `is ${type || 'without a type'}, but declared as ${Object.keys(response.content).join(', ')}`
  if (!/[/+]json$/.test(type)) return undefined
  if (typeof payload !== 'string' && !(payload instanceof Uint8Array)) return undefined // a stream
  const check = validatorOf(schema)
  const value: JsonValue = JSON.parse(payload instanceof Uint8Array ? Buffer.from(payload).toString() : payload)
  return check(value)
    ? undefined
    : check.errors
        ?.map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
        .join('; ')
}

/** A status that nobody receives. */
const CLIENT_GONE = 499

const isEmpty = (payload: unknown): boolean =>
  payload === undefined ||
  payload === null ||
  ((typeof payload === 'string' || payload instanceof Uint8Array) && payload.length === 0)

/** The schemas of a worker; those of routes are the same in all directories. */
const validators = new Map<string, ValidateFunction>()

/** Checks values against a schema of the routes, with its components. */
export function validatorOf(schema: JsonObject): ValidateFunction {
  const key = JSON.stringify(schema)
  let validator = validators.get(key)
  if (!validator) {
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
    addFormats.default(ajv)
    for (const own of ['absolute-uri', 'endpoint', 'capability-name']) ajv.addFormat(own, true)
    validator = ajv.compile({ ...closed(schema), components: { schemas: closed(componentsOf(schema)) } })
    validators.set(key, validator)
  }
  return validator
}

/** The same schema without room for members that it does not name, unless it says so. */
function closed(schema: JsonObject): JsonObject
function closed(schema: JsonValue): JsonValue
function closed(schema: JsonValue): JsonValue {
  if (Array.isArray(schema)) return schema.map((item) => closed(item))
  if (!isObject(schema)) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]))
  return isObject(schema.properties) && schema.type !== undefined && schema.additionalProperties === undefined
    ? { ...copy, additionalProperties: false }
    : copy
}
