import { Readable } from 'node:stream'
import { assertValid, compileSchema, isObject, type JsonObject, NDJSON } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import type { SubjectData } from '../../services/operations/subject-data.js'
import { readJsonObject } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { Route } from '../route-group.js'
import { json, lines } from '../schemas/response.js'
import { erasedSchema, movedSchema, subjectCountsSchema, subjectLineSchema } from './response-schemas.js'

const renameSchema: JsonObject = {
  type: 'object',
  required: ['to'],
  properties: { to: { type: 'string', minLength: 1 }, merge: { type: 'boolean' } },
  additionalProperties: false,
}
const checkRename = compileSchema(renameSchema)

/** What is kept about one subject: count, export, erase, rename (AURI §10.1). */
export function subjectRoutes(subjects: SubjectData): Route[] {
  const path = '/admin/subjects/:subject'
  return [
    {
      method: 'GET',
      path,
      summary: 'How much is kept about a subject, by kind, without the audit log',
      access: 'admin',
      responses: { 200: json('the counts; empty if nothing is kept', subjectCountsSchema) },
      handle: async (request, reply) => {
        const subject = subjectOf(request)
        return sendJson(reply, { subject, counts: { ...(await subjects.count(subject)) } })
      },
    },
    {
      method: 'GET',
      path: `${path}/export`,
      summary: 'Everything that is kept about a subject, without secrets, as one JSON object per line',
      access: 'admin',
      responses: { 200: lines('none if nothing is kept', subjectLineSchema) },
      handle: (request, reply) =>
        reply
          .header('content-type', `${NDJSON.type}; charset=utf-8`)
          .send(Readable.from(linesOf(subjects.read(subjectOf(request), request.caller)))),
    },
    {
      method: 'DELETE',
      path,
      summary: 'Erase what is kept about a subject, and end its calls; takes a few seconds',
      access: 'admin',
      responses: {
        200: json('what was erased, and the random name under which the rest stays', erasedSchema),
        404: 'nothing is kept about the subject',
      },
      handle: async (request, reply) => {
        const { erased, alias } = await subjects.erase(subjectOf(request), request.caller)
        return sendJson(reply, { erased: { ...erased }, alias })
      },
    },
    {
      method: 'POST',
      path: `${path}/rename`,
      summary: 'Move everything of a subject to another name',
      access: 'admin',
      body: renameSchema,
      responses: {
        200: json('what was moved', movedSchema),
        404: 'nothing is kept about the subject',
        409: 'the other name is in use; with "merge": true both are joined',
      },
      handle: async (request, reply) => {
        const body = readJsonObject(request)
        assertValid(checkRename(body))
        const moved = await subjects.rename(subjectOf(request), String(body.to), body.merge === true, request.caller)
        return sendJson(reply, { moved: { ...moved } })
      },
    },
  ]
}

const subjectOf = ({ params }: FastifyRequest): string => (isObject(params) ? String(params.subject) : '')

async function* linesOf(pages: AsyncIterable<readonly object[]>): AsyncGenerator<string> {
  for await (const items of pages) yield items.map((item) => `${JSON.stringify(item)}\n`).join('')
}
