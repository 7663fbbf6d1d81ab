import { asObjects, asString, asStrings, isObject, type JsonObject } from '@switchboard/protocol/json'
import type { Requester, RequestOptions } from './requester.js'

/** Lets a subject find or call agents that are not public. */
export interface Grant {
  readonly id: string
  readonly subject: string
  /** `discover`, `invoke` or both. */
  readonly scopes: readonly string[]
  /** The id of one agent … */
  readonly agent?: string
  /** … or a tag, for all agents that have it. */
  readonly tag?: string
  /** As the directory shows it. */
  readonly document: JsonObject
}

/** Exactly one of `agent` and `tag` says what is granted. */
export type GrantRequest = Pick<Grant, 'subject' | 'scopes' | 'agent' | 'tag'>

export interface GrantAdmin {
  listGrants(options?: RequestOptions): Promise<readonly Grant[]>
  createGrant(grant: GrantRequest, options?: RequestOptions): Promise<Grant>
  /** Revokes a grant, effective immediately. */
  revokeGrant(id: string, options?: RequestOptions): Promise<void>
}

export const createGrantAdmin = (request: Requester): GrantAdmin => ({
  async listGrants(more) {
    const { body } = await request({ ...more, method: 'GET', path: '/admin/grants' })
    return asObjects(isObject(body) ? body.grants : undefined).map(readGrant)
  },
  async createGrant({ subject, scopes, agent, tag }, more) {
    const { body } = await request({
      ...more,
      method: 'POST',
      path: '/admin/grants',
      body: { subject, scopes: [...scopes], ...(agent !== undefined && { agent }), ...(tag !== undefined && { tag }) },
    })
    return readGrant(isObject(body) ? body : {})
  },
  async revokeGrant(id, more) {
    await request({ ...more, method: 'DELETE', path: `/admin/grants/${encodeURIComponent(id)}` })
  },
})

function readGrant(document: JsonObject): Grant {
  const [agent, tag] = [asString(document.agent), asString(document.tag)]
  return {
    id: asString(document.id) ?? '',
    subject: asString(document.subject) ?? '',
    scopes: asStrings(document.scopes),
    ...(agent !== undefined && { agent }),
    ...(tag !== undefined && { tag }),
    document,
  }
}
