import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'
import { invalid } from '@switchboard/protocol'
import type { Store } from '../../store/store.js'

/**
 * Writes and reads the tokens of further pages. A token contains only how many results came before, and proves that this directory
 * has written it for the same query. It is the same for everybody who sends the same query.
 */
export interface PageTokens {
  /** @param query everything that decides which results there are, and in which order */
  write(skip: number, query: string): string
  /** Results to skip: 0 without a token. Throws `invalid_request` if the token is not one for this query. */
  read(token: string | undefined, query: string, at: string): number
}

const SETTING = 'page-tokens'
const NUMBER_BYTES = 6
const MAC_BYTES = 12
const LENGTH = Math.ceil(((NUMBER_BYTES + MAC_BYTES) * 4) / 3)

/** The secret is in the store, so that every replica reads the tokens of the others, also after a restart. */
export async function createPageTokens(store: Pick<Store, 'putSetting'>): Promise<PageTokens> {
  const secret = await store.putSetting(SETTING, randomBytes(32).toString('base64url'), true)
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'switchboard page token', 32))
  const macOf = (head: Buffer, query: string): Buffer =>
    createHmac('sha256', key).update(head).update(query).digest().subarray(0, MAC_BYTES)

  return {
    write(skip, query) {
      const head = Buffer.alloc(NUMBER_BYTES)
      head.writeUIntBE(skip, 0, NUMBER_BYTES)
      return Buffer.concat([head, macOf(head, query)]).toString('base64url')
    },
    read(token, query, at) {
      if (token === undefined) return 0
      const bytes = Buffer.from(token.length === LENGTH ? token : '', 'base64url')
      const head = bytes.subarray(0, NUMBER_BYTES)
      if (
        bytes.length !== NUMBER_BYTES + MAC_BYTES ||
        !timingSafeEqual(bytes.subarray(NUMBER_BYTES), macOf(head, query))
      )
        throw invalid([{ at, message: 'is not a token of this query: send it with the same query, or leave it out' }])
      return head.readUIntBE(0, NUMBER_BYTES)
    },
  }
}
