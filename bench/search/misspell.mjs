// Misspelled queries and gibberish, the same in every run.

const KEYBOARDS = ['qwertyuiop|asdfghjkl|zxcvbnm', 'йцукенгшщзхъ|фывапролджэ|ячсмитьбю', ';ςερτυθιοπ|ασδφγηξκλ|ζχψωβνμ']
/** For each letter those on the keys beside it. */
const NEIGHBOURS = new Map(
  KEYBOARDS.flatMap((keyboard) =>
    keyboard
      .split('|')
      .flatMap((row) =>
        [...row].map((key, i) => [key, [row[i - 1], row[i + 1]].filter((other) => other !== undefined)]),
      ),
  ),
)
const SHARE = 0.2
const WORD = /\p{L}{4,}/gu
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u

/** Random numbers from 0 to 1 that depend on the seed only (mulberry32). */
export function randomOf(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The text with one slip in 20 % of its words of four letters or more: a wrong, missing, additional or swapped letter. */
export function misspell(text, seed) {
  const random = randomOf(seed)
  return text.replaceAll(WORD, (word) => (UNSPACED.test(word) || random() >= SHARE ? word : slip(word, random)))
}

function slip(word, random) {
  const at = Math.floor(random() * word.length)
  const near = (letter) => {
    const keys = NEIGHBOURS.get(letter.toLowerCase()) ?? [letter]
    return keys[Math.floor(random() * keys.length)]
  }
  switch (Math.floor(random() * 4)) {
    case 0:
      return word.slice(0, at) + near(word[at]) + word.slice(at + 1)
    case 1:
      return word.slice(0, at) + word.slice(at + 1)
    case 2:
      return word.slice(0, at) + near(word[at]) + word.slice(at)
    default: {
      const first = Math.min(at, word.length - 2)
      return word.slice(0, first) + word[first + 1] + word[first] + word.slice(first + 2)
    }
  }
}

/** Queries of 3 to 12 letters that mean nothing: random letters, and letters of one row of the keyboard. */
export function gibberish(count) {
  const random = randomOf(1)
  const rows = ['abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm']
  return Array.from({ length: count }, (_, i) => {
    const letters = rows[i % 2 === 0 ? 0 : 1 + Math.floor(random() * 3)]
    return Array.from({ length: 3 + (i % 10) }, () => letters[Math.floor(random() * letters.length)]).join('')
  })
}
