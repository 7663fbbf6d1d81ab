import {
  assertValid,
  compileSchema,
  isObject,
  type JsonObject,
  NDJSON,
  subjectProblem,
  toAidip,
} from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../services/context.js'
import type { Grants } from '../../services/identity/grants.js'
import { assertNewKey, type Keys, type NewKey } from '../../services/identity/keys.js'
import type { SubjectData } from '../../services/operations/subject-data.js'
import { type MarkChanges, markAgent } from '../../services/registry/mark.js'
import { unknownAgent } from '../../services/registry/read.js'
import type { StoredGrant, StoredKey } from '../../store/store.js'
import { idOf, readJsonObject } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { aidipView } from '../schemas/documents.js'
import { json, lines, linesOf } from '../schemas/response.js'
import { auditRoutes } from './audit-routes.js'
import { exportStream, importStream } from './import.js'
import {
  exportLineSchema,
  grantSchema,
  grantsSchema,
  importLineSchema,
  importResultSchema,
  keysSchema,
  newKeySchema,
} from './response-schemas.js'
import { type SecretRoutesOptions, secretRoutes } from './secret-routes.js'
import { subjectRoutes } from './subject-routes.js'

export interface AdminOptions extends SecretRoutesOptions {
  readonly context: Context
  readonly keys: Keys
  readonly grants: Grants
  readonly subjects: SubjectData
}

/** Seconds; a hundred years. Leave out `expires_in` for a key that does not expire. */
const LONGEST_KEY = 3_153_600_000

const texts: JsonObject = { type: 'array', items: { type: 'string', minLength: 1 } }

const keySchema: JsonObject = {
  type: 'object',
  required: ['subject', 'scopes'],
  properties: {
    subject: { type: 'string', minLength: 1 },
    scopes: { ...texts, minItems: 1 },
    names: texts,
    expires_in: { type: 'integer', minimum: 1, maximum: LONGEST_KEY },
  },
}
const newGrantSchema: JsonObject = {
  type: 'object',
  required: ['subject', 'scopes'],
  properties: {
    subject: { type: 'string', minLength: 1 },
    agent: { type: 'string', minLength: 1 },
    tag: { type: 'string', minLength: 1 },
    scopes: { type: 'array', minItems: 1, items: { enum: ['discover', 'invoke'] } },
  },
}
const marksSchema: JsonObject = {
  type: 'object',
  properties: {
    verification: { enum: ['verified', 'self-asserted', null] },
    certification: { type: ['object', 'null'] },
    quality_score: { type: ['number', 'null'], minimum: 0, maximum: 5 },
    unsafe: { type: ['boolean', 'null'] },
    status: { type: ['string', 'null'] },
  },
  additionalProperties: false,
}
const [checkKey, checkGrant, checkMarks] = [
  compileSchema(keySchema),
  compileSchema(newGrantSchema),
  compileSchema(marksSchema),
]

/** For operators: keys, grants, marks, secrets, audit log and bulk import. */
export function createAdminRoutes({ context, keys, grants, credentials, signing, subjects }: AdminOptions): RouteGroup {
  const createKey = async (request: FastifyRequest): Promise<JsonObject> => {
    const body = readJsonObject(request)
    assertValid(checkKey(body))
    const values: NewKey = {
      subject: String(body.subject),
      scopes: stringsOf(body.scopes),
      ...(body.names !== undefined && { names: stringsOf(body.names) }),
      ...(typeof body.expires_in === 'number' && { expiresIn: body.expires_in }),
    }
    assertNewKey(values, context.policy)
    const { key, secret } = await keys.create(values, request.caller)
    return { ...showKey(key), key: secret }
  }

  const createGrant = async (request: FastifyRequest): Promise<JsonObject> => {
    const body = readJsonObject(request)
    assertValid(checkGrant(body))
    assertNames(body, 'subject', 'tag')
    const { agent, tag } = body
    if ((agent === undefined) === (tag === undefined))
      assertValid([{ at: '/agent', message: 'or /tag is required, but not both' }])
    const owner = typeof agent === 'string' ? context.catalog.get(agent)?.owner : undefined
    if (typeof agent === 'string' && owner === undefined) throw unknownAgent(agent)
    const grant = await grants.create(
      {
        subject: String(body.subject),
        scopes: stringsOf(body.scopes),
        ...(typeof agent === 'string' && owner !== undefined && { agent: { id: agent, owner } }),
        ...(typeof tag === 'string' && { tag }),
      },
      request.caller,
    )
    return showGrant(grant)
  }

  const mark = async (request: FastifyRequest): Promise<JsonObject> => {
    const body = readJsonObject(request)
    assertValid(checkMarks(body))
    const agent = await markAgent(context, idOf(request), toMarks(body, request, context.now()), request.caller)
    return toAidip(agent.record, context.catalog.facts(agent))
  }

  return {
    name: 'admin',
    summary: 'Keys, grants, marks, credentials, audit, people’s data, import and export',
    errors: 'application/json',
    noStore: true,
    routes: [
      {
        method: 'POST',
        path: '/admin/keys',
        summary: 'Create an API key; its secret is shown only once',
        access: 'admin',
        body: keySchema,
        responses: { 201: json('the key', newKeySchema) },
        handle: async (request, reply) => sendJson(reply.code(201), await createKey(request)),
      },
      {
        method: 'GET',
        path: '/admin/keys',
        summary: 'List API keys, without secrets',
        access: 'admin',
        responses: { 200: json('the keys', keysSchema) },
        handle: (_request, reply) => sendJson(reply, { keys: keys.list().map(showKey) }),
      },
      {
        method: 'DELETE',
        path: '/admin/keys/:id',
        summary: 'Revoke an API key, effective immediately',
        access: 'admin',
        responses: { 204: 'revoked', 404: 'no such key' },
        handle: async (request, reply) => {
          await keys.revoke(idOf(request), request.caller)
          return reply.code(204).send()
        },
      },
      {
        method: 'POST',
        path: '/admin/grants',
        summary: 'Allow a subject to find or call agents that are not public',
        access: 'admin',
        body: newGrantSchema,
        responses: { 201: json('the grant', grantSchema), 404: 'no such agent' },
        handle: async (request, reply) => sendJson(reply.code(201), await createGrant(request)),
      },
      {
        method: 'GET',
        path: '/admin/grants',
        summary: 'List grants',
        access: 'admin',
        responses: { 200: json('the grants', grantsSchema) },
        handle: (_request, reply) => sendJson(reply, { grants: grants.list().map(showGrant) }),
      },
      {
        method: 'DELETE',
        path: '/admin/grants/:id',
        summary: 'Revoke a grant',
        access: 'admin',
        responses: { 204: 'revoked', 404: 'no such grant' },
        handle: async (request, reply) => {
          await grants.revoke(idOf(request), request.caller)
          return reply.code(204).send()
        },
      },
      {
        method: 'PATCH',
        path: '/admin/agents/:id',
        summary: 'Mark an agent: verification, certification, quality_score, unsafe, status; null removes a mark',
        access: 'admin',
        body: marksSchema,
        responses: { 200: json('the metadata with its marks', aidipView), 404: 'no such agent' },
        handle: async (request, reply) => sendJson(reply, await mark(request)),
      },
      ...secretRoutes({ credentials, signing }),
      ...auditRoutes(context.trail),
      ...subjectRoutes(subjects),
      {
        method: 'POST',
        path: '/admin/import',
        summary: 'Import documents of any draft, one JSON document per line; returns one result per line',
        access: 'admin',
        body: linesOf(importLineSchema),
        bodyTypes: [NDJSON.type],
        bodyLimit: Number.POSITIVE_INFINITY,
        responses: { 200: lines('one result per line', importResultSchema) },
        handle: (request, reply) => importStream(context, request, reply),
      },
      {
        method: 'GET',
        path: '/admin/export',
        summary: 'The documents of all agents as they were sent, one per line, in the format of the import',
        access: 'admin',
        responses: { 200: lines('one agent per line; X-Total-Count is their number', exportLineSchema) },
        handle: (_request, reply) => exportStream(context, reply),
      },
    ],
  }
}

/** Subjects and tags are stored and compared unchanged, so they must not contain characters that cannot be stored. */
function assertNames(body: JsonObject, ...members: string[]): void {
  const issues = members.flatMap((name) => {
    const value = body[name]
    const problem = typeof value === 'string' ? subjectProblem(value) : undefined
    return problem === undefined ? [] : [{ at: `/${name}`, message: problem }]
  })
  assertValid(issues)
}

const stringsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

function toMarks(body: JsonObject, request: FastifyRequest, now: number): MarkChanges {
  const { verification, certification, quality_score: quality, unsafe, status } = body
  const by = request.caller.subject ?? 'admin'
  return {
    ...(verification === null && { verification: null }),
    ...((verification === 'verified' || verification === 'self-asserted') && {
      verification: { state: verification, by, at: new Date(now).toISOString() },
    }),
    ...((certification === null || isObject(certification)) && { certification }),
    ...((quality === null || typeof quality === 'number') && { quality_score: quality }),
    ...((unsafe === null || typeof unsafe === 'boolean') && { unsafe }),
    ...((status === null || typeof status === 'string') && { status }),
  }
}

/** An API key as its owner and administrators see it. */
export const showKey = ({ id, subject, scopes, names, createdAt, expiresAt }: StoredKey): JsonObject => ({
  id,
  subject,
  scopes,
  ...(names && { names }),
  created_at: new Date(createdAt).toISOString(),
  ...(expiresAt !== undefined && { expires_at: new Date(expiresAt).toISOString() }),
})

const showGrant = ({ id, subject, scopes, agent, tag, createdAt }: StoredGrant): JsonObject => ({
  id,
  subject,
  scopes,
  ...(agent && { agent: agent.id }),
  ...(tag !== undefined && { tag }),
  created_at: new Date(createdAt).toISOString(),
})
