import stringWidth from 'string-width'

const segmenter = new Intl.Segmenter()

/** Pads a text with spaces to a width in terminal columns; wide characters such as Chinese take two. */
export const padColumns = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - stringWidth(text)))

/** Truncates a text to a width in terminal columns, with an ellipsis; never splits a character. */
export function fitColumns(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  let fitted = ''
  let used = 1 // the ellipsis
  for (const { segment } of segmenter.segment(text)) {
    used += stringWidth(segment)
    if (used > columns) break
    fitted += segment
  }
  return columns > 0 ? `${fitted}…` : ''
}
