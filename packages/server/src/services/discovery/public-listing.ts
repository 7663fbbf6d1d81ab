import type { Agent, Catalog, CatalogListener } from '../registry/catalog.js'
import { isPrivate } from '../registry/hidden-agents.js'

/** Registration numbers in one chunk: about 130 kB, rebuilt in less than a millisecond. */
const CHUNK_NUMBERS = 1024

/** The document of all public agents, as bytes that any number of responses can share. */
export interface PublicListing extends Required<Pick<CatalogListener, 'publicChanged'>> {
  /** The parts of the current document, in order. */
  parts(): readonly Buffer[]
}

export interface PublicListingOptions {
  readonly catalog: Pick<Catalog, 'byNumber'>
  /** Base of the URLs; known only once the server listens. */
  readonly baseUrl: () => string
  /** Whether the agent is listed, if it is not private. */
  readonly isListed: (agent: Agent) => boolean
}

/**
 * Keeps `{"agents": {id: url, …}}` in chunks of consecutive registration numbers. A change rebuilds only its chunk; responses
 * that are still being sent go on with the chunks they started with.
 */
export function createPublicListing({ catalog, baseUrl, isListed }: PublicListingOptions): PublicListing {
  /** By number divided by `CHUNK_NUMBERS`; undefined: to be rebuilt. Each entry of a chunk has a comma before it. */
  const chunks = new Map<number, Buffer | undefined>()
  let current: { readonly base: string; readonly parts: readonly Buffer[] } | undefined

  const entryOf = (number: number, base: string): string => {
    const agent = catalog.byNumber(number)
    if (!agent || isPrivate(agent) || !isListed(agent)) return ''
    const { id } = agent.record
    return `,${JSON.stringify(id)}:${JSON.stringify(`${base}/agents/${encodeURIComponent(id)}/agent.json`)}`
  }

  const build = (chunk: number, base: string): Buffer => {
    const first = chunk * CHUNK_NUMBERS
    const entries = Array.from({ length: CHUNK_NUMBERS }, (_, i) => entryOf(first + i, base))
    return Buffer.from(entries.join(''))
  }

  const assemble = (base: string): Buffer[] => {
    for (const [chunk, built] of chunks) {
      const bytes = built ?? build(chunk, base)
      if (bytes.length > 0) chunks.set(chunk, bytes)
      else chunks.delete(chunk)
    }
    const filled = [...chunks].sort(([a], [b]) => a - b).flatMap(([, bytes]) => bytes ?? [])
    const [head, ...rest] = filled
    // The first entry has no entry before it.
    return [Buffer.from('{"agents":{'), ...(head ? [head.subarray(1)] : []), ...rest, Buffer.from('}}')]
  }

  return {
    publicChanged(number) {
      chunks.set(Math.floor(number / CHUNK_NUMBERS), undefined)
      current = undefined
    },
    parts() {
      const base = baseUrl()
      if (current && current.base !== base) for (const chunk of chunks.keys()) chunks.set(chunk, undefined)
      if (current?.base !== base) current = { base, parts: assemble(base) }
      return current.parts
    },
  }
}
