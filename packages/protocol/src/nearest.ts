/** The known word that is most similar to a mistyped one; undefined only if no word is known. */
export function nearestOf(text: string, known: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const word of known) {
    const distance = editDistance(text, word)
    if (distance < least) [nearest, least] = [word, distance]
  }
  return nearest
}

/** Levenshtein distance, ignoring case. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a.toLowerCase()].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b.toLowerCase()].entries()) {
      next.push(Math.min((next[j] ?? 0) + 1, (row[j + 1] ?? 0) + 1, (row[j] ?? 0) + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
