/** Languages that queries mention; `Intl` supplies their English names. */
const TAGS =
  'af am ar az bg bn ca cs da de el en es et fa fi fil fr ga gu he hi hr hu hy id is it ja ka kk km kn ko lo lt lv mk ml mn mr ms my nb ne nl pa pl pt ro ru sk sl sq sr sv sw ta te th tr uk ur uz vi yo zh zu'

const NAMES = new Intl.DisplayNames('en', { type: 'language' })

const TAG_OF_NAME: ReadonlyMap<string, string> = new Map([
  ...TAGS.split(' ').map((tag) => [(NAMES.of(tag) ?? tag).toLowerCase(), tag] as const),
  ['mandarin', 'zh'],
  ['farsi', 'fa'],
  ['norwegian', 'nb'],
])

/** "Chinese" alone may be a cuisine; after one of these words it is a language. */
const NAMED = /\b(?:to|into|in|from|and|between|speaks?|speaking|understands?)\s+(\p{L}+)/giu

/** Primary BCP 47 subtags of the languages that an English text mentions: "to Chinese", "from German into French". */
export function namedLanguages(text: string): string[] {
  const tags = new Set<string>()
  for (const [, name = ''] of text.matchAll(NAMED)) {
    const tag = TAG_OF_NAME.get(name.toLowerCase())
    if (tag) tags.add(tag)
  }
  return [...tags]
}
