import { foldTag } from '@switchboard/protocol'

/** Tags that an operator declares, and how they are related. */
export interface TaxonomyConfig {
  readonly name: string
  /** Tags may be written as this, "#" and the tag. */
  readonly uri?: string
  readonly tags: Readonly<Record<string, TagRelations>>
}

export interface TagRelations {
  /** What the tag is a kind of: invoice-processing is finance. */
  readonly broader?: readonly string[]
  /** Other tags that mean exactly this. */
  readonly same?: readonly string[]
  /** Tags that mean about this: they raise, but satisfy no demand (C-51). */
  readonly synonyms?: readonly string[]
}

/** How a tag that an agent has answers one that was asked for. */
export interface ExpandedTag {
  readonly tag: string
  /** The agent's own tag, from which it follows. */
  readonly via: string
}

/** What is known about tags. */
export interface Taxonomy {
  readonly names: readonly string[]
  /** The tag without the URI of its taxonomy; undefined if that taxonomy is not declared here. */
  read(tag: string): string | undefined
  /** Tags that satisfy a demand for this one: the same and narrower ones, without itself. */
  satisfying(tag: string): readonly string[]
  /** Those, and synonyms. */
  raising(tag: string): readonly string[]
}

export function createTaxonomy(configs: readonly TaxonomyConfig[]): Taxonomy {
  const narrower = new Map<string, Set<string>>()
  const similar = new Map<string, Set<string>>()
  const link = (map: Map<string, Set<string>>, from: string, to: string): void => {
    const [key, value] = [foldTag(from), foldTag(to)]
    map.set(key, (map.get(key) ?? new Set()).add(value))
  }
  for (const [tag, { broader = [], same = [], synonyms = [] }] of configs.flatMap(({ tags }) => Object.entries(tags))) {
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

  return {
    names: configs.map(({ name, uri }) => uri ?? name),
    read(tag) {
      if (!/^(urn|https?):/i.test(tag)) return tag
      const home = configs.find(({ uri }) => uri !== undefined && tag.startsWith(`${uri}#`))
      return home?.uri === undefined ? undefined : tag.slice(home.uri.length + 1)
    },
    satisfying,
    raising: (tag) => [...new Set([...satisfying(tag), ...(similar.get(foldTag(tag)) ?? [])])],
  }
}

/** Which of the wanted tags are had, directly or by what they stand for. */
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
    const via = same ?? taxonomy.raising(tag).find((other) => own.has(other))
    if (same !== undefined) direct.push(same)
    else if (via !== undefined) expanded.push({ tag, via: own.get(via) ?? via })
  }
  return { direct, expanded }
}
