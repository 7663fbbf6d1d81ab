// Reads the first steps from the README.
import { join } from 'node:path'
import { blocksIn } from '../snippets.mjs'
import { ROOT } from '../tree.mjs'

const SECTION = 'Two minutes'

/** The recorded session, which the README shows. */
export const PICTURE = join(ROOT, 'docs/images/first-minutes.svg')

/**
 * The steps in order: `{file, code}` is a file to save, `{stays}` a program for a terminal of its own, `{commands}` are pasted
 * into the second terminal.
 */
export function readSteps(readme) {
  const section = readme.split(/^## /m).find((each) => each.startsWith(`${SECTION}\n`))
  if (!section) throw new Error(`README.md has no section "${SECTION}"`)
  return blocksIn(section).map(({ info, code }) => {
    const file = /^\/\/ (\S+\.mjs)\n/.exec(code)?.[1]
    if (file) return { file, code }
    return info === 'sh stays' ? { stays: code.trim() } : { commands: code.trim().split('\n') }
  })
}
