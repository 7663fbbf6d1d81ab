/** A parsed SPIFFE id, such as `spiffe://example.org/billing/invoices`. */
export interface SpiffeId {
  readonly trustDomain: string
  /** Names the workload; starts with a slash. */
  readonly path: string
}

/** Bytes; from the SPIFFE-ID specification, like the rest of the syntax here. */
const MAX_ID = 2048
const MAX_TRUST_DOMAIN = 255
const SPIFFE_ID = /^spiffe:\/\/([a-z0-9._-]+)((?:\/[a-zA-Z0-9._-]+)+)$/

/** Whether a text claims to be a SPIFFE id, valid or not. */
export const isSpiffe = (text: string): boolean => /^spiffe:/i.test(text)

/** Parses the SPIFFE id of a workload; undefined if it is not valid, or names only a trust domain. */
export function parseSpiffeId(text: string): SpiffeId | undefined {
  const [, trustDomain = '', path = ''] = SPIFFE_ID.exec(text) ?? []
  if (trustDomain === '' || trustDomain.length > MAX_TRUST_DOMAIN || text.length > MAX_ID) return undefined
  return path.split('/').some((segment) => segment === '.' || segment === '..') ? undefined : { trustDomain, path }
}
