/**
 * Quotes versions that were written as numbers, in a descriptor and its capabilities: parsed as a number, 1.10 would
 * become 1.1 (C-24). The text must be valid JSON.
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

/** Strings, numbers, punctuation, and the text between them. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\]:,]|[^"{}[\]:,\d-]+/g

/** The names of the containers around a version: of the document itself, and of an item of `capabilities`. */
const PLACES = new Set(['', ' "capabilities" '])
