/** One line of a lexicon: an English word or term, and words of another language that mean it. */
export interface LexiconEntry {
  readonly english: string
  /** The most usual first. */
  readonly words: readonly string[]
}

/** A lexicon that cannot be read. The message names the file and the line, and says what to do. */
export class LexiconError extends Error {
  override readonly name = 'LexiconError'
}

/**
 * Parses a lexicon. A line has an English word or term in its first column and the translations, separated by semicolons,
 * in its last; columns are separated by tabs. Columns between them, such as the part of speech, are for readers. Empty
 * lines and lines that start with `#` are skipped.
 *
 * @param source name of the file, for errors
 * @example
 * parseLexicon('invoice\tn\t\tRechnung; Faktura', 'de.tsv') // [{ english: 'invoice', words: ['Rechnung', 'Faktura'] }]
 */
export function parseLexicon(text: string, source: string): LexiconEntry[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return []
    const columns = line.split('\t')
    const english = columns[0]?.trim() ?? ''
    const words = (columns.length > 1 ? (columns.at(-1) ?? '') : '')
      .split(';')
      .map((word) => word.trim())
      .filter((word) => word !== '')
    if (english === '' || words.length === 0)
      throw new LexiconError(
        `${source}, line ${index + 1}: write an English word, a tab, and its translations separated by semicolons`,
      )
    return [{ english, words }]
  })
}
