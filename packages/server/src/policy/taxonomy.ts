import { foldTag } from '@switchboard/protocol'

/** Tags that an operator declares, and their relations. */
export interface TaxonomyConfig {
  readonly name: string
  /** Prefix of qualified tags, which are written as `uri#tag`. */
  readonly uri?: string
  readonly tags: Readonly<Record<string, TagRelations>>
}

export interface TagRelations {
  /** Broader tags: invoice-processing is a kind of finance. */
  readonly broader?: readonly string[]
  /** Equivalent tags. */
  readonly same?: readonly string[]
  /** Similar tags: they count as preferred tags, but do not satisfy a required one (C-51). */
  readonly synonyms?: readonly string[]
}

/** A requested tag that an agent does not have, but that follows from one of its tags. */
export interface ExpandedTag {
  readonly tag: string
  /** The agent's own tag. */
  readonly via: string
}

/** Resolves tags and their relations. */
export interface Taxonomy {
  readonly names: readonly string[]
  /** The tag without the URI of its taxonomy; undefined if this directory does not declare that taxonomy. */
  read(tag: string): string | undefined
  /** Whether the tag is in one of the taxonomies; true for every tag if the directory declares none. */
  declares(tag: string): boolean
  /** Other tags that satisfy a requirement for this one: equivalent and narrower tags. */
  satisfying(tag: string): readonly string[]
  /** Those, and similar tags: an agent with one of them is preferred. */
  related(tag: string): readonly string[]
}

export function createTaxonomy(configs: readonly TaxonomyConfig[]): Taxonomy {
  const narrower = new Map<string, Set<string>>()
  const similar = new Map<string, Set<string>>()
  const link = (map: Map<string, Set<string>>, from: string, to: string): void => {
    const [key, value] = [foldTag(from), foldTag(to)]
    map.set(key, (map.get(key) ?? new Set()).add(value))
  }
  const declared = new Set<string>()
  for (const [tag, { broader = [], same = [], synonyms = [] }] of configs.flatMap(({ tags }) => Object.entries(tags))) {
    for (const word of [tag, ...broader, ...same, ...synonyms]) declared.add(foldTag(word))
    for (const wider of broader) link(narrower, wider, tag)
    for (const equal of same) {
      link(narrower, equal, tag)
      link(narrower, tag, equal)
    }
    for (const word of synonyms) {
      link(similar, word, tag)
      link(similar, tag, word)
    }
  }

  const satisfying = (tag: string): string[] => {
    const start = foldTag(tag)
    const found = new Set([start])
    for (const known of found) for (const next of narrower.get(known) ?? []) found.add(next)
    found.delete(start)
    return [...found]
  }

  const read = (tag: string): string | undefined => {
    if (!/^(urn|https?):/i.test(tag)) return tag
    const home = configs.find(({ uri }) => uri !== undefined && tag.startsWith(`${uri}#`))
    return home?.uri === undefined ? undefined : tag.slice(home.uri.length + 1)
  }

  return {
    names: configs.map(({ name, uri }) => uri ?? name),
    read,
    declares: (tag) => configs.length === 0 || declared.has(foldTag(read(tag) ?? '')),
    satisfying,
    related: (tag) => [...new Set([...satisfying(tag), ...(similar.get(foldTag(tag)) ?? [])])],
  }
}

/** Which of the wanted tags an agent has, directly or through a related tag. */
export function matchTags(
  wanted: readonly string[],
  has: readonly string[],
  taxonomy: Taxonomy,
): { direct: string[]; expanded: ExpandedTag[] } {
  const own = new Map(has.map((tag) => [foldTag(tag), tag]))
  const direct: string[] = []
  const expanded: ExpandedTag[] = []
  for (const tag of wanted) {
    const same = own.get(foldTag(tag))
    const via = same ?? taxonomy.related(tag).find((other) => own.has(other))
    if (same !== undefined) direct.push(same)
    else if (via !== undefined) expanded.push({ tag, via: own.get(via) ?? via })
  }
  return { direct, expanded }
}

/** How much a related tag counts compared with the tag itself. */
const RELATED_WEIGHT = 0.8

/** Share of the wanted tags that an agent has, 0 to 1; undefined if none are wanted. */
export function tagShare(wanted: readonly string[], has: readonly string[], taxonomy: Taxonomy): number | undefined {
  if (wanted.length === 0) return undefined
  const { direct, expanded } = matchTags(wanted, has, taxonomy)
  return (direct.length + RELATED_WEIGHT * expanded.length) / wanted.length
}
