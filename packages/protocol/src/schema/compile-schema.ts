import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { type Issue, invalid } from '../errors.js'
import { capabilityNameProblem } from '../identifiers.js'
import { type JsonObject, type JsonValue, pointerToken } from '../json.js'
import { parseTimestamp } from '../timestamps.js'
import { isAbsoluteUri, isEndpoint } from '../uris.js'

/** As many as help; a document of a thousand mistakes is told about its first. */
const MAX_ISSUES = 20

/** Values in a document that is told everything at once; a larger one could be wrong in a hundred thousand places. */
const MAX_TOLD_VALUES = 5000

const firstError = createAjv(false)
const allErrors = createAjv(true)

function createAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({ allErrors, strict: false, verbose: true })
  ajv.addFormat('date-time', (value: string) => parseTimestamp(value) !== undefined)
  ajv.addFormat('absolute-uri', isAbsoluteUri)
  ajv.addFormat('endpoint', isEndpoint)
  ajv.addFormat('capability-name', (value: string) => capabilityNameProblem(value) === undefined)
  return ajv
}

/** A schema compiled once; the returned function gives what is wrong with a value, empty if nothing is. */
export function compileSchema(schema: JsonObject): (value: JsonValue) => Issue[] {
  let fits: ValidateFunction | undefined
  let explain: ValidateFunction | undefined
  return (value) => {
    fits ??= firstError.compile(schema)
    if (fits(value)) return []
    if (!isWithin(value, MAX_TOLD_VALUES)) return readErrors(fits.errors ?? [])
    explain ??= allErrors.compile(schema)
    explain(value)
    return readErrors(explain.errors ?? [])
  }
}

/** A schema compiled once, for a yes or no. */
export function compileFit(schema: JsonObject): (value: JsonValue) => boolean {
  const fits = firstError.compile(schema)
  return (value) => fits(value)
}

/** Whether a value has at most so many values inside. */
function isWithin(value: JsonValue, limit: number): boolean {
  let left = limit
  const count = (part: JsonValue): boolean =>
    --left >= 0 && (typeof part !== 'object' || part === null || Object.values(part).every(count))
  return count(value)
}

/** Throws an `invalid_request` that names every member at fault. */
export function assertValid(issues: Issue[]): void {
  if (issues.length > 0) throw invalid(issues.slice(0, MAX_ISSUES))
}

/** Ajv's errors in words that say what to do. */
export function readErrors(errors: ErrorObject[]): Issue[] {
  const seen = new Set<string>()
  return errors.map(readError).filter(({ at, message }) => {
    const key = `${at} ${message}`
    return !seen.has(key) && seen.add(key)
  })
}

function readError(error: ErrorObject): Issue {
  const at = error.instancePath
  const { params } = error
  switch (error.keyword) {
    case 'required':
      return { at: `${at}/${pointerToken(String(params.missingProperty))}`, message: 'is required' }
    case 'type':
      return { at, message: `must be ${[params.type].flat().map(withArticle).join(' or ')}` }
    case 'enum':
      return { at, message: `must be one of ${params.allowedValues.map((v: unknown) => JSON.stringify(v)).join(', ')}` }
    case 'minLength':
    case 'minItems':
      return { at, message: params.limit === 1 ? 'must not be empty' : (error.message ?? 'is too short') }
    case 'maxItems':
      return { at, message: `has more than ${params.limit} items` }
    case 'minimum':
      return { at, message: `must be at least ${params.limit}` }
    case 'additionalProperties':
      return { at: `${at}/${pointerToken(String(params.additionalProperty))}`, message: 'is not known' }
    case 'format':
      return { at, message: FORMATS.get(params.format) ?? `must be a ${params.format}` }
    default:
      return { at, message: error.message ?? 'is not valid' }
  }
}

const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date-time', 'must be an RFC 3339 timestamp such as "2026-05-08T00:00:00Z"'],
  ['absolute-uri', 'must be an absolute URI such as "https://agents.example.com/a"'],
  ['endpoint', 'must be an absolute URL such as "https://agents.example.com/a", or a path that starts with "/"'],
  ['capability-name', 'must be a name without "*" and control characters, 1 to 255 characters long'],
])

const withArticle = (type: string): string => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)
