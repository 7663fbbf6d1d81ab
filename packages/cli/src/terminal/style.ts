import { readColours } from '../settings.js'

/** Styles text for a terminal, or returns it as it is. */
export type Style = Readonly<Record<StyleName, (text: string) => string>>

type StyleName = keyof typeof CODES

/** SGR codes that start and end a style. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const

const styled =
  (name: StyleName) =>
  (text: string): string =>
    text === '' ? '' : `\u001b[${CODES[name][0]}m${text}\u001b[${CODES[name][1]}m`

const asIs = (text: string): string => text

/** No style at all, such as for files. */
export const PLAIN: Style = { bold: asIs, dim: asIs, red: asIs, green: asIs, yellow: asIs, cyan: asIs }

const COLOURED: Style = {
  bold: styled('bold'),
  dim: styled('dim'),
  red: styled('red'),
  green: styled('green'),
  yellow: styled('yellow'),
  cyan: styled('cyan'),
}

/** The style for a stream: colours on a terminal, unless NO_COLOR forbids or FORCE_COLOR demands them. */
export const styleFor = (stream: { readonly isTTY?: boolean | undefined }): Style =>
  readColours(stream.isTTY === true) ? COLOURED : PLAIN
