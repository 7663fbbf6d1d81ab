/**
 * Quotes the versions of a descriptor, its own and those of its capabilities, that were written as numbers: as a number
 * 1.10 would become 1.1 (C-24). The text is valid JSON, so a look at its tokens is enough.
 */
export function quoteVersions(text: string): string {
  const containers: string[] = []
  let [result, name, lastString] = ['', '', '']
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') {
      containers.push(name)
      name = ''
    } else if (token === '}' || token === ']') containers.pop()
    else if (token === ':') name = lastString
    else if (token === ',') name = ''
    else if (token.startsWith('"')) lastString = token
    const isVersion = name === '"version"' && /^[-\d]/.test(token) && PLACES.has(containers.join(' '))
    result += isVersion ? `"${token}"` : token
  }
  return result
}

/** Strings, numbers, punctuation, and what lies between them. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\]:,]|[^"{}[\]:,\d-]+/g

/** Names of the containers around a version: none around the document, and the list of capabilities. */
const PLACES = new Set(['', ' "capabilities" '])
