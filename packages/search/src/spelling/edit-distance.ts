/** Keys of common layouts, row by row; the letters of a column are next to those of the same column in the next row. */
const LAYOUTS = ['qwertyuiop|asdfghjkl|zxcvbnm', 'йцукенгшщзхъ|фывапролджэ|ячсмитьбю', ';ςερτυθιοπ|ασδφγηξκλ|ζχψωβνμ']

/** For each letter the row (from 0, those of a layout 10 apart from the next) and column of its key. */
const KEYS: ReadonlyMap<number, readonly [row: number, column: number]> = new Map(
  LAYOUTS.flatMap((layout, number) =>
    layout
      .split('|')
      .flatMap((keys, row) =>
        Array.from(keys, (letter, column) => [letter.charCodeAt(0), [10 * number + row, column] as const] as const),
      ),
  ),
)

/** Whether two letters are next to each other on a keyboard, so that one is easily typed for the other. */
function areNeighbours(a: number, b: number): boolean {
  const [x, y] = [KEYS.get(a), KEYS.get(b)]
  if (!x || !y) return false
  const [rows, columns] = [y[0] - x[0], y[1] - x[1]]
  // Each row is shifted to the right by a part of a key: s is below w and e.
  if (rows === 0) return Math.abs(columns) === 1
  return (rows === 1 && (columns === 0 || columns === -1)) || (rows === -1 && (columns === 0 || columns === 1))
}

const VOWELS = new Set(Array.from('aeiouyаеиоуыэюяёαεηιουω', (letter) => letter.charCodeAt(0)))

/** How unlikely a slip is, from 0 (people make it all the time) to 1, in percent of an edit. */
const PENALTY = { swapped: 5, doubled: 0, missing: 10, extra: 20, neighbour: 10, vowel: 20, other: 45 }
/** Added if the first letter is wrong: people rarely get it wrong. */
const FIRST_LETTER = 30
/** An edit in the unit of the penalties. */
const EDIT = 100

/** What it takes to get from the word as typed to a word. */
export interface Edits {
  /** Number of edits: letters added, left out or replaced, or two adjacent ones swapped (Damerau). */
  readonly distance: number
  /** How unlikely these slips are, 0 to 1 for each edit. */
  readonly penalty: number
}

const MAX_LETTERS = 32
const FAR = 2 ** 15
const rows = [new Uint16Array(MAX_LETTERS + 2), new Uint16Array(MAX_LETTERS + 2), new Uint16Array(MAX_LETTERS + 2)]

/**
 * The edits from the word as typed to the one that was meant: as few as possible, and of those the likeliest. Undefined if
 * there are more than `most`, which is 2 at most.
 */
export function editsBetween(typed: string, meant: string, most: number): Edits | undefined {
  const [length, width] = [typed.length, meant.length]
  if (Math.abs(length - width) > most || length > MAX_LETTERS || width > MAX_LETTERS) return undefined
  let [before = new Uint16Array(0), last = new Uint16Array(0), row = new Uint16Array(0)] = rows
  const limit = (most + 1) * EDIT
  last.fill(FAR)
  last[0] = 0
  for (let j = 1; j <= Math.min(width, most); j++) last[j] = (last[j - 1] ?? 0) + missing(meant, j - 1)
  for (let i = 1; i <= length; i++) {
    const letter = typed.charCodeAt(i - 1)
    const extraLetter = extra(typed, i - 1)
    // Cells further from the diagonal take too many edits.
    const [from, to] = [Math.max(1, i - most), Math.min(width, i + most)]
    row[from - 1] = from === 1 ? (last[0] ?? 0) + extraLetter : FAR
    let least = FAR
    for (let j = from; j <= to; j++) {
      const wanted = meant.charCodeAt(j - 1)
      let cost = (last[j - 1] ?? 0) + (letter === wanted ? 0 : replaced(letter, wanted, i === 1 && j === 1))
      if (letter !== wanted || cost > 0) {
        cost = Math.min(cost, (last[j] ?? 0) + extraLetter, (row[j - 1] ?? 0) + missing(meant, j - 1))
        if (i > 1 && j > 1 && letter === meant.charCodeAt(j - 2) && typed.charCodeAt(i - 2) === wanted)
          cost = Math.min(cost, (before[j - 2] ?? 0) + EDIT + PENALTY.swapped)
      }
      row[j] = cost
      if (cost < least) least = cost
    }
    row[to + 1] = FAR
    if (least >= limit) return undefined
    ;[before, last, row] = [last, row, before]
  }
  const cost = last[width] ?? FAR
  const distance = Math.floor(cost / EDIT)
  return distance > most ? undefined : { distance, penalty: (cost - distance * EDIT) / EDIT }
}

const missing = (meant: string, at: number): number =>
  EDIT + (isDoubled(meant, at) ? PENALTY.doubled : at === 0 ? FIRST_LETTER : PENALTY.missing)

const extra = (typed: string, at: number): number =>
  EDIT + (isDoubled(typed, at) ? PENALTY.doubled : at === 0 ? FIRST_LETTER : PENALTY.extra)

const isDoubled = (word: string, at: number): boolean => at > 0 && word.charCodeAt(at) === word.charCodeAt(at - 1)

function replaced(letter: number, wanted: number, isFirst: boolean): number {
  const areVowels = VOWELS.has(letter) && VOWELS.has(wanted)
  const slip = areNeighbours(letter, wanted) ? PENALTY.neighbour : areVowels ? PENALTY.vowel : PENALTY.other
  return EDIT + (isFirst ? Math.max(slip, FIRST_LETTER) : slip)
}
