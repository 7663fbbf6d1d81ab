// Draws what a terminal has shown as an SVG image, whose lines appear one after the other.

const [FONT, LINE, CHARACTER, MARGIN] = [13, 18, 7.83, 16]
/** Seconds between two lines, and after a command. */
const [LINE_SECONDS, COMMAND_SECONDS] = [0.12, 0.9]
/** Lines shown of one command; the rest is left out. */
const MAX_LINES = 6
/** Colours of a dark terminal, by the codes with which programs select them. */
const COLOURS = {
  30: '#7d8590',
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#7d8590',
}
const [BACKGROUND, TEXT, PROMPT] = ['#0d1117', '#e6edf3', '#7ee787']

export const escapeText = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** The picture of a session, with the commands as its description. */
export function drawSession(session, columns) {
  let seconds = 0.5
  const lines = session.flatMap(({ command, output }) => {
    const shown = excerptOf(output)
    const at = seconds
    seconds += COMMAND_SECONDS
    const answers = shown.map((line) => {
      seconds += LINE_SECONDS
      return { spans: toSpans(line), at: seconds }
    })
    seconds += COMMAND_SECONDS
    return [
      {
        spans: [
          { text: '$ ', colour: PROMPT },
          { text: command, bold: true },
        ],
        at,
      },
      ...answers,
    ]
  })
  const [width, height] = [columns * CHARACTER + 2 * MARGIN, (lines.length + 0.5) * LINE + 2 * MARGIN]
  const rows = lines.map(({ spans, at }, row) => {
    const y = MARGIN + (row + 1) * LINE
    return `<text class="line" style="animation-delay:${at.toFixed(2)}s" x="${MARGIN}" y="${y}" xml:space="preserve">${spans.map(drawSpan).join('')}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}" role="img">
<title>The first two minutes with Switchboard, in a terminal</title>
<desc>
${session.map(({ command }) => escapeText(command)).join('\n')}
</desc>
<style>
.line { font: ${FONT}px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: ${TEXT}; animation: show 0.01s both; }
@keyframes show { from { opacity: 0; } }
@media (prefers-reduced-motion: reduce) { .line { animation: none; } }
</style>
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
${rows.join('\n')}
</svg>
`
}

/** The first lines of an output, without blank ones. */
function excerptOf(output) {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  if (lines.length <= MAX_LINES) return lines
  return [...lines.slice(0, MAX_LINES - 1), '…']
}

/** Splits a line into parts of one colour. */
function toSpans(line) {
  const spans = []
  let style = {}
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one
  for (const [, codes, text] of line.matchAll(/(?:\u001b\[([\d;]*)m)?((?:[^\u001b]|\u001b(?!\[[\d;]*m))*)/g)) {
    for (const code of codes?.split(';') ?? []) style = applied(style, Number(code))
    // biome-ignore lint/suspicious/noControlCharactersInRegex: other escape sequences are not drawn
    const drawn = text.replaceAll(/\u001b\[[\d;?]*[A-Za-z]|[\u0000-\u0008\u000b-\u001f]/g, '')
    if (drawn !== '') spans.push({ text: drawn, ...style })
  }
  return spans
}

function applied(style, code) {
  if (code === 0) return {}
  if (code === 1) return { ...style, bold: true }
  if (code === 2) return { ...style, colour: COLOURS[90] }
  if (code === 22) return { ...style, bold: false, colour: undefined }
  if (code === 39) return { ...style, colour: undefined }
  return COLOURS[code] ? { ...style, colour: COLOURS[code] } : style
}

function drawSpan({ text, colour, bold }) {
  const fill = colour ? ` fill="${colour}"` : ''
  const weight = bold ? ' font-weight="600"' : ''
  return `<tspan${fill}${weight}>${escapeText(text)}</tspan>`
}
