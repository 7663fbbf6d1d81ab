import {
  type AgentRecord,
  agree,
  DirectoryError,
  type Issue,
  invalid,
  isObject,
  type JsonObject,
  type JsonValue,
  mediaTypeOf,
  memberSchemas,
  type Operation,
  type PublisherSchemas,
  pointerToken,
  takeReserved,
  toJsonSchema,
} from '@switchboard/protocol'
import type { AgentCall, Endpoint, Payload } from '../../../gateway/gateway.js'
import type { Span } from '../../../telemetry/traces.js'
import type { Agent } from '../../registry/catalog.js'
import type { CallDeps } from '../call-deps.js'
import { chooseOperation, isListed, isMarked, mediaTypesOf } from '../request/choose-operation.js'
import type { FormFile, Input, Invocation, Places } from '../request/invocation.js'
import type { Admission } from './admit.js'
import type { AgentCredential } from './choose-credential.js'
import { endpointsFor } from './endpoints.js'
import { completeEndpoints } from './remote-inputs.js'

/**
 * One call that is allowed and checked: what the gateway sends, what the response is checked against, and everything
 * that a deferred call must store.
 */
export interface PreparedCall
  extends Pick<AgentCall, 'idempotent' | 'wantsStream' | 'prefersTask' | 'accept' | 'timeoutMs' | 'signal'> {
  readonly agent: Agent
  /** The record as the caller sees it. */
  readonly record: AgentRecord
  readonly operation: Operation
  /** Where the version is served; undefined: at the agent's endpoint. */
  readonly versionBase: string | undefined
  readonly endpoints: readonly Endpoint[]
  readonly payload: Payload
  /** For the agent, without the credential. */
  readonly headers: Readonly<Record<string, string>>
  readonly credential: AgentCredential
  /** Subject of the caller. */
  readonly caller: string
  /** The span that the call is part of; a deferred call has only its headers. */
  readonly trace?: Span | undefined
}

/**
 * Prepares one input of an invocation: finds its operation, checks it, and determines what is sent where.
 *
 * @param maxSteps limit of the check against the schema, if it is lower than usual
 */
export function prepareCall(
  { context, timeoutMs }: Pick<CallDeps, 'context' | 'timeoutMs'>,
  invocation: Invocation,
  admission: Admission,
  input: Input,
  maxSteps?: number,
): PreparedCall {
  const { agent, record, version, credential, operations, isOpen } = admission
  const { caller, idempotencyKey, signal } = invocation
  const { operation, value } = chooseOperation(operations, invocation.operation, jsonOf(input), isOpen)
  const forwarded = isForwarded(record, operation, input)
  const { reserved, rest } = takeReserved(value, operation.inputs)
  const json = input.kind === 'form' && !forwarded ? addFiles(operation, rest, input.files) : rest
  if (!forwarded) checkInput(context.schemas, operation, json, maxSteps)
  const session = agreeOn('sessionId', invocation.session, reserved.sessionId)
  const task = agreeOn('taskId', invocation.task, reserved.taskId)
  const headers: Record<string, string> = { 'x-request-id': caller.requestId, ...invocation.forwarded }
  Object.assign(headers, version.headers)
  if (session !== undefined) headers['x-session-id'] = session
  if (task !== undefined) headers['x-task-id'] = task
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  return {
    agent,
    record,
    operation,
    versionBase: version.base,
    endpoints: completeEndpoints(
      record.id,
      endpointsFor(admission, operation, () => context.catalog.facts(agent).baseUrl),
      credential,
    ),
    payload:
      input.kind !== 'json' && forwarded
        ? { kind: 'bytes', contentType: input.contentType, body: input.body }
        : { kind: 'json', value: json, text: input.kind === 'json' && json === input.value ? input.text : undefined },
    headers,
    credential,
    caller: caller.subject ?? '',
    trace: invocation.trace,
    idempotent: idempotencyKey !== undefined || isMarked(record, operation, 'idempotent'),
    wantsStream: reserved.stream,
    timeoutMs,
    signal,
  }
}

/** The value that the places and the input agree on. Most calls have none. */
function agreeOn(name: string, places: Places, own: string | undefined): string | undefined {
  const { header, query, path, body, frame } = places
  const first = header ?? query ?? path ?? body ?? frame ?? own
  return first === undefined ? undefined : agree(name, [header, query, path, body, frame, own])
}

/** The JSON of an input; a body of another media type has none. */
const jsonOf = (input: Input): JsonValue => (input.kind === 'bytes' ? {} : input.value)

/** Whether the body goes to the agent unchanged, because the operation lists its media type (C-66). */
function isForwarded(record: AgentRecord, operation: Operation, input: Input): boolean {
  if (input.kind === 'json') return false
  const listed = mediaTypesOf(record, operation, 'input')
  const type = mediaTypeOf(input.contentType)
  if (isListed(listed, type)) return true
  if (input.kind === 'form') return false
  const supported = [...new Set(['application/json', 'multipart/form-data', ...listed])]
  throw new DirectoryError(
    'unsupported_media_type',
    `the operation "${operation.name}" accepts ${supported.join(', ')}, not "${type.slice(0, 80)}"`,
    { members: { supported } },
  )
}

/** Adds the files of a form to the input as base64; a member that is a list gets all files of its name. */
function addFiles(operation: Operation, value: JsonValue, files: readonly FormFile[]): JsonValue {
  if (files.length === 0) return value
  if (!isObject(value)) throw invalid([{ at: '', message: 'must be an object: files become members of it' }])
  const joined: JsonObject = { ...value }
  for (const { name, bytes } of files) {
    const kind = fileMember(operation, name)
    if (kind === undefined)
      throw invalid([{ at: `/${name}`, message: 'is a file, but the operation has no member of that name for files' }])
    const text = Buffer.from(bytes).toString('base64')
    const before = joined[name]
    if (kind === 'text') joined[name] = text
    else joined[name] = [...(Array.isArray(before) ? before : []), text]
  }
  return joined
}

/** How a member accepts a file: as base64 text, as a list of such texts, or not at all. */
function fileMember(operation: Operation, name: string): 'text' | 'list' | undefined {
  // The simple map has the type word `file`, which the schema compiled from it no longer shows (C-09).
  if (/^file\??$/.test(String(operation.inputs[name]))) return 'text'
  const schemas = memberSchemas(operation.inputs, name)
  if (schemas.some(({ contentEncoding }) => contentEncoding === 'base64')) return 'text'
  const ofItems = schemas.map(({ items }) => items).filter(isObject)
  return ofItems.some(({ contentEncoding }) => contentEncoding === 'base64') ? 'list' : undefined
}

/** Throws `invalid_request` if the input does not match the operation's schema; the issues name the members (01 §5.2). */
export function checkInput(schemas: PublisherSchemas, operation: Operation, input: JsonValue, maxSteps?: number): void {
  const mismatches = schemas.check(operation.inputs, input, maxSteps)
  const issues = mismatches.length > 0 ? mismatches : encodingIssues(operation.inputs, input)
  if (issues.length === 0) return
  const messages = issues.map(({ at, message }) => `${at === '' ? 'the input' : at} ${message}`)
  throw new DirectoryError('invalid_request', messages.join('; '), { issues })
}

/** Levels of members and items that are searched for encoded text. */
const MAX_DEPTH = 8

/** Whether a schema requires base64 anywhere, cached because most do not and every call has to know. */
const requiresBase64 = new WeakMap<JsonObject, boolean>()

/** For JSON Schema `contentEncoding` is only an annotation, but an agent that declares base64 must get base64 (01 §5.1). */
function encodingIssues(description: JsonObject, value: JsonValue): Issue[] {
  const isRequired =
    requiresBase64.get(description) ?? JSON.stringify(description).includes('"contentEncoding":"base64"')
  requiresBase64.set(description, isRequired)
  return isRequired ? findEncodingIssues(toJsonSchema(description), value, '', MAX_DEPTH) : []
}

function findEncodingIssues(schema: JsonObject, value: JsonValue, at: string, depth: number): Issue[] {
  if (typeof value === 'string')
    return schema.contentEncoding === 'base64' && !isBase64(value) ? [{ at, message: 'must be base64' }] : []
  if (depth === 0) return []
  const { properties, items } = schema
  if (Array.isArray(value) && isObject(items))
    return value.flatMap((item, i) => findEncodingIssues(items, item, `${at}/${i}`, depth - 1))
  if (!isObject(value) || !isObject(properties)) return []
  return Object.entries(properties).flatMap(([name, part]) => {
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    if (member === undefined || !isObject(part)) return []
    return findEncodingIssues(part, member, `${at}/${pointerToken(name)}`, depth - 1)
  })
}

const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
