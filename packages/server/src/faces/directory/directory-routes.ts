import {
  DirectoryError,
  directoryHref,
  isObject,
  type JsonObject,
  parseAgentName,
  parseDocument,
  toDirectory,
  toDirectorySummary,
} from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../../policy/caller.js'
import { grantLifetime } from '../../policy/lifetime.js'
import type { Context } from '../../services/context.js'
import { lookUpAgents } from '../../services/discovery/find.js'
import { readRegistration } from '../../services/registry/read.js'
import { refreshAgent, requireOwn } from '../../services/registry/refresh.js'
import { registerAgent } from '../../services/registry/register.js'
import { removeAgent } from '../../services/registry/remove.js'
import { isListUnchanged } from '../list-validators.js'
import { headerOf, OWNER_QUERY, readJson, readOptionalJson, readOwner, readQuery } from '../read-request.js'
import { addWarnings, linkNext, renderOnce, sendAgent, sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { directoryDocument, directoryView } from '../schemas/documents.js'
import { IF_MATCH, IF_NONE_MATCH, numberParameter } from '../schemas/parameter.js'
import { text } from '../schemas/parts.js'
import { empty, json } from '../schemas/response.js'
import { listParts, sendParts } from '../send-parts.js'
import { LOOKUP_PARAMETERS, MAX_COUNT, nextLookup, parseLookup } from './lookup-query.js'
import { directoryUpdate, entryPointsSchema, lookupSchema } from './response-schemas.js'

export interface DirectoryOptions {
  readonly context: Context
  /** Called when a credential is valid for far longer than the registration made with it (AD §8.2). */
  readonly onLongCredential: (subject: string, seconds: number) => void
}

/** The Agent Directory: soft-state registration and lookup. */
export function createDirectoryRoutes({ context, onLongCredential }: DirectoryOptions): RouteGroup {
  const description: JsonObject = {
    registration: '/ad/r',
    lookup: `/ad/l{?${LOOKUP_PARAMETERS.join(',')}}`,
    max_count: MAX_COUNT,
  }
  return {
    name: 'directory',
    summary: 'Registrations with a lifetime, and lookup (Agent Directory)',
    errors: 'application/problem+json',
    routes: [
      {
        method: 'GET',
        path: '/.well-known/ad',
        summary: 'Where to register and look up agents',
        access: 'open',
        responses: { 200: json('registration path, lookup template, max_count', entryPointsSchema) },
        handle: (_request, reply) => sendJson(reply.header('cache-control', 'public, max-age=300'), description),
      },
      {
        method: 'POST',
        path: '/ad/r',
        summary: 'Register an agent under a name, or replace your own registration',
        access: 'caller',
        limit: 'register',
        query: {
          agent: { description: 'the name, unique in this directory', schema: text, required: true },
          lt: numberParameter('lifetime in seconds, 60 to 4294967295 (default: 86400)', 60),
          ...OWNER_QUERY,
        },
        headers: IF_MATCH,
        body: directoryDocument,
        responses: {
          200: empty('replaced; see Location'),
          201: empty('registered; see Location'),
          409: 'the name belongs to another publisher',
        },
        handle: async (request, reply) => {
          assertProductionCredential(context, request.caller)
          const params = readQuery(request)
          const name = parseAgentName(params.get('agent') ?? undefined)
          const lifetime = grantLifetime(params.get('lt') ?? undefined, context.maxLifetime)
          warnAboutLongCredential(request.caller, lifetime)
          // The name comes from the query (C-42). agent, lt and href are the registry's members and are not stored.
          const {
            agent: _agent,
            lt: _lt,
            href: _href,
            ...document
          } = parseDocument('directory', readJson(request), context.policy.strictness)
          const { agent, created, warnings } = await registerAgent(context, {
            format: 'directory',
            document,
            id: name,
            caller: request.caller,
            intent: 'claim',
            lifetime,
            ifMatch: headerOf(request, 'if-match'),
            onBehalfOf: readOwner(params),
          })
          addWarnings(reply, warnings)
          return sendEmpty(reply.code(created ? 201 : 200).header('location', directoryHref(agent)))
        },
      },
      {
        method: 'GET',
        path: '/ad/r/:number',
        summary: 'One registration',
        access: 'discover',
        limit: 'lookup',
        headers: IF_NONE_MATCH,
        responses: {
          200: json('the registration with its granted lifetime', directoryView),
          304: 'not modified',
          404: 'no such registration',
        },
        handle: async (request, reply) => {
          const { agent, record } = await readRegistration(context, numberOf(request), request.caller)
          const write = (): JsonObject => toDirectory(record, context.catalog.facts(agent))
          return sendAgent(request, reply, { agent, record, view: 'directory', write })
        },
      },
      {
        method: 'POST',
        path: '/ad/r/:number',
        summary: 'Refresh a registration; a body replaces the members it contains',
        access: 'caller',
        limit: 'register',
        query: { lt: numberParameter('a new lifetime in seconds', 60) },
        body: directoryUpdate,
        bodyOptional: true,
        responses: {
          204: 'refreshed',
          403: 'the registration belongs to another publisher',
          404: 'no such registration, or it expired',
        },
        handle: async (request, reply) => {
          assertProductionCredential(context, request.caller)
          const requested = readQuery(request).get('lt')
          const number = numberOf(request)
          await requireOwn(context, number, request.caller)
          const lifetime = requested === null ? undefined : grantLifetime(requested, context.maxLifetime)
          await refreshAgent(context, { number, caller: request.caller, lifetime, changes: readChanges(request) })
          return reply.code(204).send()
        },
      },
      {
        method: 'DELETE',
        path: '/ad/r/:number',
        summary: 'Remove a registration',
        access: 'caller',
        limit: 'register',
        responses: {
          204: 'removed',
          403: 'the registration belongs to another publisher',
          404: 'no such registration',
        },
        handle: async (request, reply) => {
          const { record } = await requireOwn(context, numberOf(request), request.caller)
          await removeAgent(context, record.id, request.caller, headerOf(request, 'if-match'))
          return reply.code(204).send()
        },
      },
      {
        method: 'GET',
        path: '/ad/l',
        summary: 'Look up agents by name, protocol or capability',
        access: 'discover',
        limit: 'lookup',
        query: {
          agent: 'name, or a prefix followed by *',
          protocol: 'a protocol the agent supports',
          cap_name: 'name of a capability, or a prefix followed by *',
          cap_type: 'type of that capability',
          tag: 'tag of that capability',
          page: numberParameter('number of the page, from 0'),
          count: numberParameter(`agents per page, at most ${MAX_COUNT}`, 1),
        },
        headers: IF_NONE_MATCH,
        responses: { 200: json('agents; Link rel="next" if there are more', lookupSchema), 304: 'not modified' },
        handle: (request, reply) => {
          if (isListUnchanged(request, reply, context, { caller: request.caller, showsTimes: false }))
            return reply.code(304).send()
          return lookUp(context, request, reply)
        },
      },
    ],
  }

  function warnAboutLongCredential({ subject, credentialEnds }: Caller, lifetime: number): void {
    const seconds = credentialEnds === undefined ? 0 : (credentialEnds - context.now()) / 1000
    if (subject !== undefined && seconds > 30 * lifetime) onLongCredential(subject, Math.round(seconds))
  }
}

function lookUp(context: Context, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const params = readQuery(request)
  const { conditions, page, count } = parseLookup(params)
  const { found, visited, more } = lookUpAgents(context, {
    conditions,
    skip: page * count,
    take: count,
    caller: request.caller,
  })
  request.visited += visited
  if (more) addWarnings(reply, linkNext(reply, nextLookup(params, page)))
  const entries = found.map(({ agent, record }) =>
    renderOnce(agent, record.redacted ? 'directory-summary.r' : 'directory-summary', () =>
      toDirectorySummary(record, context.catalog.facts(agent)),
    ),
  )
  return sendParts(reply, listParts('{"agents":[', entries, ']}'))
}

/** API keys are for development; production requires tokens or certificates (AD §8.2, C-71). */
function assertProductionCredential({ production }: Context, caller: Caller): void {
  if (!production || caller.kind !== 'key') return
  throw new DirectoryError(
    'unauthorized',
    'API keys cannot register agents in production: use an OAuth 2.0 token or a client certificate',
  )
}

function readChanges(request: FastifyRequest): JsonObject | undefined {
  const value = readOptionalJson(request)
  if (value === undefined) return undefined
  if (!isObject(value)) throw new DirectoryError('invalid_request', 'the body must be a JSON object')
  return value
}

/** The number of the registration; -1, which no registration has, if the path does not contain one. */
function numberOf({ params }: FastifyRequest): number {
  const text = typeof params === 'object' && params !== null && 'number' in params ? String(params.number) : ''
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : -1
}

const sendEmpty = (reply: FastifyReply): FastifyReply => reply.header('content-length', '0').send()
