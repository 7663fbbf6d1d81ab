import { DOCUMENT_FORMATS, NDJSON } from '@switchboard/protocol'
import { component } from '../schemas/component.js'
import { anyObject, anything, count, counts, flag, list, object, oneOf, text, texts, time } from '../schemas/parts.js'
import { type DescribedResponse, linesOf } from '../schemas/response.js'

const keyMembers = { id: text, subject: text, scopes: texts, names: texts, created_at: time, expires_at: time }

/** What `showKey` writes. */
const keySchema = component('ApiKey', object(keyMembers, 'names', 'expires_at'))
export const newKeySchema = component('NewApiKey', object({ ...keyMembers, key: text }, 'names', 'expires_at'))
export const keysSchema = object({ keys: list(keySchema) })

export const grantSchema = component(
  'Grant',
  object({ id: text, subject: text, scopes: texts, agent: text, tag: text, created_at: time }, 'agent', 'tag'),
)
export const grantsSchema = object({ grants: list(grantSchema) })

/** The credential of an agent, without secrets. */
export const credentialFactsSchema = component('AgentCredential', {
  ...object(
    {
      agent: text,
      type: oneOf('bearer', 'api_key', 'basic', 'client_credentials', 'token_exchange'),
      origins: texts,
      set_at: time,
      last_failure: object({ at: time, reason: text }),
    },
    'last_failure',
  ),
  description: 'with the target of tokens, if the directory requests them',
  additionalProperties: true,
})

const entryMembers = {
  at: time,
  actor: text,
  action: text,
  outcome: oneOf('ok', 'refused'),
  agent: text,
  format: text,
  request_id: text,
  detail: text,
  address: text,
  count,
  before: anyObject,
  after: anyObject,
}
const optionalMembers = ['agent', 'format', 'request_id', 'detail', 'address', 'count', 'before', 'after']
const entrySchema = component('AuditEntry', object(entryMembers, ...optionalMembers))
export const loggedEntrySchema = component('LoggedEntry', object({ cursor: text, ...entryMembers }, ...optionalMembers))

export const auditResponse: DescribedResponse = {
  description: 'the entries',
  content: {
    'application/json': object({ entries: list(entrySchema), next: text }, 'next'),
    [NDJSON.type]: linesOf(loggedEntrySchema),
  },
}

export const subjectCountsSchema = object({ subject: text, counts })
export const erasedSchema = object({ erased: counts, alias: text })
export const movedSchema = object({ moved: counts })

const formats = oneOf(...DOCUMENT_FORMATS)

/** One line of an import. */
export const importLineSchema = component(
  'ImportLine',
  object({ document: anyObject, format: formats, id: text, owner: text }, 'format', 'id', 'owner'),
)

/** What became of one line of an import. */
export const importResultSchema = component('ImportResult', {
  ...object(
    {
      line: count,
      status: oneOf('created', 'updated', 'failed'),
      id: text,
      format: formats,
      warnings: texts,
      code: text,
      message: text,
    },
    ...['id', 'format', 'warnings', 'code', 'message'],
  ),
})

/** One line of an export: an import can read it. */
export const exportLineSchema = component(
  'ExportLine',
  object({ id: text, format: formats, owner: text, document: anyObject }),
)

/** One line of what is kept about a subject. */
export const subjectLineSchema = component('SubjectLine', object({ kind: text, value: anything }))

export const demoSchema = object({
  available: flag,
  running: flag,
  agents: list(
    object(
      { id: text, shows: text, query: text, input: anyObject, operation: text, streams: flag, key: text },
      ...['operation', 'streams', 'key'],
    ),
  ),
})
