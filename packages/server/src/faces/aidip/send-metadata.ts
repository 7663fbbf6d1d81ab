import { createHash } from 'node:crypto'
import { isObject, type JsonObject, toAidip } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Outcomes } from '../../services/calls/outcomes/outcomes.js'
import type { Context } from '../../services/context.js'
import { entityTag } from '../../services/registry/entity-tags.js'
import { readAgent } from '../../services/registry/read.js'
import { isUnchanged, sendAgent, sendJson } from '../respond.js'
import { isRevision00 } from './search-request.js'

/** Sends the full metadata of one agent; its owner and operators also see call statistics and ratings. */
export function sendMetadata(
  { context, outcomes }: { context: Context; outcomes: Outcomes },
  id: string,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const revision = isRevision00(request) ? '00' : '01'
  const { agent, record } = readAgent(context, id, request.caller)
  const card = (request.headers.accept ?? '').includes('application/agent-card+json')
  const document = {
    agent,
    record,
    view: `aidip${revision}`,
    write: () => toAidip(record, context.catalog.facts(agent), revision),
    ...(card && { type: 'application/agent-card+json' }),
  }
  const reputation = outcomes.statisticsOf(agent, request.caller)
  if (!reputation) return sendAgent(request, reply, document)
  const tag = entityTag(agent, `${document.view}.${digestOf(reputation)}`, record.redacted)
  reply.header('cache-control', 'private, no-cache')
  if (isUnchanged(request, reply, tag, context.now())) return reply.code(304).send()
  return sendJson(reply, withReputation(document.write(), reputation), document.type)
}

/** Adds it to the registry's own member, so that a publisher who sends the document back does not publish it. */
function withReputation(document: JsonObject, reputation: JsonObject): JsonObject {
  const { verification } = document
  return { ...document, verification: { ...(isObject(verification) && verification), reputation } }
}

const digestOf = (value: JsonObject): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)
