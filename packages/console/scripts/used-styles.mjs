// Mantine's style sheet has the rules of all of its components, of which the console uses a part. This plugin keeps the
// files of those whose classes occur in the scripts, in the order of the whole style sheet.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const CLASSES = /\bm_[0-9a-f]+\b/g

/** @param {string} scripts all scripts of the bundle */
export const usedStyles = (scripts) => ({
  name: 'used-styles',
  setup({ onLoad }) {
    const used = new Set(scripts.match(CLASSES))
    onLoad({ filter: /@mantine\/core\/styles\.css$/ }, ({ path }) => ({
      contents: selectRules(path, used),
      loader: 'css',
    }))
  },
})

/** The files of the package that a bundle needs; those without classes are for all. */
function selectRules(path, used) {
  const whole = readFileSync(path, 'utf8')
  const folder = join(dirname(path), 'styles')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.css') && !name.endsWith('.layer.css'))
    .map((name) => readFileSync(join(folder, name), 'utf8').trim())
    .filter((rules) => {
      const classes = rules.match(CLASSES) ?? []
      return classes.length === 0 || classes.some((name) => used.has(name))
    })
    .sort((a, b) => whole.indexOf(a) - whole.indexOf(b))
    .join('\n')
}
