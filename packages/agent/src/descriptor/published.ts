import { createHash } from 'node:crypto'
import { type JsonObject, type SigningKey, signDocument } from '@switchboard/protocol'

/** A document, ready to be served. */
export interface Published {
  readonly document: JsonObject
  readonly body: string
  readonly tag: string
  /** Milliseconds since 1970. */
  readonly changedAt: number
}

/** Documents that are cached; bounded, because the base URL may come from a forged Host header. */
const MAX_CACHED = 16

/**
 * Prepares documents for serving: signs them if there is a key, and computes an entity tag that changes with the content
 * (AURI §5.1).
 */
export function createPublisher(now: () => number, key: SigningKey | undefined) {
  const cache = new Map<string, { content: string; published: Promise<Published> }>()

  const publish = async (document: JsonObject, changedAt: number): Promise<Published> => {
    const signed = key ? await signDocument(document, key) : document
    const body = JSON.stringify(signed)
    const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
    return { document: signed, body, tag, changedAt }
  }

  return (name: string, document: JsonObject): Promise<Published> => {
    const content = JSON.stringify(document)
    const known = cache.get(name)
    if (known?.content === content) return known.published
    // Signatures may differ each time, so the same content is signed only once.
    const published = publish(document, now())
    const [oldest] = cache.keys()
    if (cache.size >= MAX_CACHED && oldest !== undefined && !known) cache.delete(oldest)
    cache.set(name, { content, published })
    return published
  }
}

export type Publisher = ReturnType<typeof createPublisher>
