/** RFC 4647 basic filtering: "zh" matches "zh-CN", not the reverse; case does not count (C-13). */
export function matchesLanguage(range: string, tag: string): boolean {
  const [wanted, has] = [range.toLowerCase(), tag.toLowerCase()]
  return wanted === '*' || has === wanted || has.startsWith(`${wanted}-`)
}

/** An agent without a list takes any language (AIDIP §3.1). */
export function speaks(languages: readonly string[] | undefined, range: string): boolean {
  return languages === undefined || languages.some((tag) => matchesLanguage(range, tag))
}

/** How AIDIP and the profile compare tags and capability names (C-16). */
export const foldTag = (tag: string): string => tag.normalize('NFC').toLowerCase()
