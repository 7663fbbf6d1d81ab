/** RFC 4647 basic filtering: "zh" matches "zh-CN", but not the reverse; case-insensitive (C-13). */
export function matchesLanguage(range: string, tag: string): boolean {
  const [wanted, has] = [range.toLowerCase(), tag.toLowerCase()]
  return wanted === '*' || has === wanted || has.startsWith(`${wanted}-`)
}

/** Whether an agent supports a language; one without a list supports every language (AIDIP §3.1). */
export function speaks(languages: readonly string[] | undefined, range: string): boolean {
  return languages === undefined || languages.some((tag) => matchesLanguage(range, tag))
}

/** The form in which AIDIP and the profile compare tags and capability names (C-16). */
export const foldTag = (tag: string): string => tag.normalize('NFC').toLowerCase()
