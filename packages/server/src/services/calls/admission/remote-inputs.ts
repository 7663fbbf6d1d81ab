import {
  asObjects,
  asString,
  asStrings,
  DirectoryError,
  invalid,
  isObject,
  type JsonObject,
  type JsonValue,
} from '@switchboard/protocol'
import type { Endpoint } from '../../../gateway/gateway.js'
import type { AgentCredential } from './choose-credential.js'
import { isReservedHeader } from './credential.js'

/** Something that an endpoint needs and the caller has to send. */
interface MissingInput {
  readonly name: string
  readonly isHeader: boolean
  readonly isSecret: boolean
  readonly description: string | undefined
}

/** What there is for the endpoint: the caller's values by name, and the headers of its credential. */
export type GivenInputs = Pick<AgentCredential, 'headers' | 'variables'>

/** Inputs of one remote that are read; a document may list any number. */
const MAX_INPUTS = 50
const MAX_LENGTH = 8192
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/

/**
 * The endpoints with the variables of their URLs and the headers that they ask for (`remotes` of a server.json). Throws if
 * none is complete, and names what the caller has to send: nothing has been sent to the agent yet.
 */
export function completeEndpoints(id: string, endpoints: readonly Endpoint[], given: GivenInputs): readonly Endpoint[] {
  if (!endpoints.some(asksForInputs)) return endpoints
  const read = endpoints.map((endpoint) => complete(endpoint, given))
  const usable = read.flatMap((one) => ('endpoint' in one ? [one.endpoint] : []))
  if (usable.length > 0) return usable
  const [first] = read.flatMap((one) => ('missing' in one ? [one.missing] : []))
  throw missingInputs(id, first ?? [])
}

/** The endpoint with what it asks for; undefined if that is not given. */
export function completeEndpoint(endpoint: Endpoint, given: GivenInputs): Endpoint | undefined {
  try {
    return completeEndpoints('', [endpoint], given)[0]
  } catch (error) {
    if (error instanceof DirectoryError) return undefined
    throw error
  }
}

const asksForInputs = ({ protocol, source }: Endpoint): boolean =>
  protocol === 'mcp' && (Array.isArray(source?.headers) || isObject(source?.variables))

function complete(endpoint: Endpoint, given: GivenInputs): { endpoint: Endpoint } | { missing: MissingInput[] } {
  if (!asksForInputs(endpoint)) return { endpoint }
  const missing: MissingInput[] = []
  const { source = {} } = endpoint
  const variables = isObject(source.variables) ? source.variables : {}
  const url = fill(endpoint.url, variables, given, missing, encodeURIComponent, true) ?? endpoint.url
  const headers: Record<string, string> = {}
  for (const header of asObjects(source.headers).slice(0, MAX_INPUTS)) {
    const name = asString(header.name) ?? ''
    if (!HEADER_NAME.test(name) || isReservedHeader(name)) continue
    // The credential of the caller or the operator is this header.
    if (Object.hasOwn(given.headers, name.toLowerCase())) continue
    const value = valueFor(name, header, given, missing, true)
    if (value !== undefined) headers[name.toLowerCase()] = value
  }
  if (missing.length > 0) return { missing }
  if (!URL.canParse(url) || url.length > MAX_LENGTH)
    throw badValue('does not fit the address of the agent, of which its values are parts')
  return { endpoint: { ...endpoint, url, headers } }
}

/** The value of an input: fixed by the publisher, or sent by the caller, or the default. */
function valueFor(
  name: string,
  input: JsonObject,
  given: GivenInputs,
  missing: MissingInput[],
  isHeader: boolean,
  isRequired = input.isRequired === true,
): string | undefined {
  const template = asString(input.value)
  if (template !== undefined) {
    const variables = isObject(input.variables) ? input.variables : {}
    return fill(template, variables, given, missing, (value) => value, isRequired)
  }
  const sent = Object.entries(given.variables ?? {}).find(([key]) =>
    isHeader ? key.toLowerCase() === name.toLowerCase() : key === name,
  )?.[1]
  const choices = asStrings(input.choices)
  if (sent !== undefined && choices.length > 0 && !choices.includes(sent))
    throw badValue(`has a value of ${name} that the agent does not offer: choose ${choices.slice(0, 20).join(', ')}`)
  const value = sent ?? asString(input.default)
  if (value === undefined && isRequired)
    missing.push({ name, isHeader, isSecret: input.isSecret === true, description: asString(input.description) })
  return value
}

/** Replaces `{name}` by the variable of that name; what is no variable stays. Undefined if an optional one has no value. */
function fill(
  template: string,
  variables: Readonly<Record<string, JsonValue>>,
  given: GivenInputs,
  missing: MissingInput[],
  encode: (value: string) => string,
  isRequired: boolean,
): string | undefined {
  let isComplete = true
  const filled = template.replaceAll(/\{([^{}]{1,128})\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
    if (!isObject(variable)) return whole
    const isNeeded = isRequired || variable.isRequired === true
    const value = valueFor(name, { ...variable, variables: {} }, given, missing, false, isNeeded)
    if (value === undefined) isComplete = false
    return encode(value ?? '')
  })
  return isComplete ? filled : undefined
}

/** The values of `X-Agent-Variables`, written like a query string: `tenant=acme&X-Region=eu`. */
export function readVariables(header: string | undefined): Record<string, string> | undefined {
  if (header === undefined) return undefined
  const variables = Object.fromEntries(new URLSearchParams(header))
  for (const value of Object.values(variables)) {
    if (!/^[\x20-\x7e\xa0-\xff]*$/.test(value))
      throw badValue('has a value with characters that a header cannot contain')
  }
  return variables
}

const badValue = (message: string): DirectoryError => invalid([{ at: 'X-Agent-Variables', message }])

function missingInputs(id: string, missing: readonly MissingInput[]): DirectoryError {
  const listed = missing.slice(0, MAX_INPUTS)
  const needs = listed.map(({ name, isHeader, description }) => {
    const what = `${isHeader ? 'the header' : 'the variable'} ${name}`
    return description === undefined ? what : `${what} (${description.slice(0, 200)})`
  })
  const how = [...new Set(listed.map(howToSend))].join(' and ')
  const message = `the agent "${id}" requires ${needs.join(', ')}: send ${how}`
  return listed.some(({ isSecret }) => isSecret)
    ? new DirectoryError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer realm="agent"' } })
    : new DirectoryError('invalid_request', message, {
        issues: listed.map(({ name }) => ({ at: 'X-Agent-Variables', message: `must have ${name}` })),
      })
}

function howToSend({ name, isHeader }: MissingInput): string {
  if (isHeader && name.toLowerCase() === 'authorization') return 'X-Agent-Authorization'
  if (isHeader && name.toLowerCase() === 'x-api-key') return 'X-Agent-API-Key'
  return `X-Agent-Variables: ${encodeURIComponent(name)}=…`
}
