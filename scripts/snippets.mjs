// Reads the fenced code blocks of our Markdown files. CONTRIBUTING.md explains the marks.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { packageFolders, ROOT } from './tree.mjs'

/** What is done with a block, by its language and the first word after it. A mark that ends with a colon needs a reason. */
const MARKS = {
  ts: { '': 'run', continued: 'continue', 'no-run:': 'compile', 'no-check:': 'skip' },
  sh: { '': 'syntax', run: 'run', stays: 'syntax', 'no-run:': 'syntax' },
  json: { '': 'parse' },
}

/** Pages for readers. Decision records show code of the past. */
export function documents() {
  const inFolder = (folder) => readdirSync(folder).map((name) => join(folder, name))
  return [
    join(ROOT, 'README.md'),
    ...inFolder(join(ROOT, 'docs')),
    ...inFolder(join(ROOT, 'docs/reference')),
    ...packageFolders().map((folder) => join(folder, 'README.md')),
  ].filter((path) => path.endsWith('.md'))
}

/** The blocks of a file in the languages that are checked; continued ones are part of the block that they continue. */
export function readSnippets(path) {
  const file = relative(ROOT, path)
  const snippets = []
  for (const { info, line, code } of blocksIn(readFileSync(path, 'utf8'))) {
    const [language, mark = '', ...reason] = info.split(/\s+/)
    const marks = MARKS[language]
    if (!marks) continue
    const action = marks[mark]
    if (!action) throw new Error(`${file}:${line}: unknown mark "${mark}"; use one of ${Object.keys(marks).join(' ')}`)
    if (mark.endsWith(':') && reason.length === 0) throw new Error(`${file}:${line}: give a reason after "${mark}"`)
    // Blank lines in front keep the line numbers of the page, so that messages of the compiler point into it.
    if (action !== 'continue') snippets.push({ file, line, language, mark, action, code: '\n'.repeat(line) + code })
    else {
      const before = snippets.at(-1)
      if (before?.language !== 'ts') throw new Error(`${file}:${line}: there is no block to continue`)
      before.code += '\n'.repeat(line - before.code.split('\n').length + 1) + code
    }
  }
  return snippets
}

/** Every fenced block with its info string and the line of its opening fence. */
export function blocksIn(text) {
  const blocks = []
  let open
  for (const [at, line] of text.split('\n').entries()) {
    const fence = /^```(.*)$/.exec(line)
    if (open && fence) {
      blocks.push({ ...open, code: `${open.lines.join('\n')}\n` })
      open = undefined
    } else if (fence) open = { info: fence[1].trim(), line: at + 1, lines: [] }
    else open?.lines.push(line)
  }
  return blocks
}

/** A comment `// → text` says what its line prints; an expression alone is printed. */
const RESULT = /^(\s*)(.+?);?\s*\/\/ → (.*)$/
const STATEMENT = /^(console\.|const |let |for |if |return |throw |\}|\w+ = )/

/** The program, with expressions printed whose result the page shows. */
export const programOf = ({ code }) =>
  code.replaceAll(new RegExp(RESULT, 'gm'), (line, indent, expression) =>
    STATEMENT.test(expression) ? line : `${indent}console.log(${expression})`,
  )

/** The outputs that the page shows, in order. */
export const resultsOf = ({ code }) => [...code.matchAll(new RegExp(RESULT, 'gm'))].map(([, , , result]) => result)
