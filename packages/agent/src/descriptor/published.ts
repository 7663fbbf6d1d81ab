import { createHash } from 'node:crypto'
import { type JsonObject, type SigningKey, signDocument } from '@switchboard/protocol'

/** A document as it is served. */
export interface Published {
  readonly document: JsonObject
  readonly body: string
  readonly tag: string
  /** Milliseconds since 1970, of the last change. */
  readonly changedAt: number
}

/** Bases under which one agent is asked for that are remembered; a forged Host must not fill the memory. */
const MAX_KEPT = 16

/**
 * Makes documents ready to be served: signed where there is a key, and known by a tag that changes with their content
 * (AURI §5.1).
 */
export function createPublisher(now: () => number, key: SigningKey | undefined) {
  const kept = new Map<string, { content: string; published: Promise<Published> }>()

  const publish = async (document: JsonObject, changedAt: number): Promise<Published> => {
    const signed = key ? await signDocument(document, key) : document
    const body = JSON.stringify(signed)
    const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
    return { document: signed, body, tag, changedAt }
  }

  return (name: string, document: JsonObject): Promise<Published> => {
    const content = JSON.stringify(document)
    const known = kept.get(name)
    if (known?.content === content) return known.published
    // A signature may differ each time it is made: the same content is signed once.
    const published = publish(document, now())
    const [oldest] = kept.keys()
    if (kept.size >= MAX_KEPT && oldest !== undefined && !known) kept.delete(oldest)
    kept.set(name, { content, published })
    return published
  }
}

export type Publisher = ReturnType<typeof createPublisher>
