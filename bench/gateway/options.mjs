import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../../scripts/tree.mjs'
import { positive } from '../registry/options.mjs'

export const HELP = `bench/gateway: what a call through the directory costs, beside proxies that check nothing

  --rounds N       ours and the proxies take turns this often (5)
  --seconds N      length of one measurement (1)
  --streams N      streams at once (1000)
  --steady N       seconds of calls over which memory is watched (30)
  --folder FOLDER  where the database is written (.cache/bench-gateway)
  --json FILE      write the results there too
  --quick          a minute: 3 short rounds
  --profile DIR    no comparison: write CPU profiles of the directory for calls and streams, and print what they say
`

const FULL = { rounds: 5, seconds: 1, streams: 1000, steady: 30 }
const QUICK = { rounds: 3, seconds: 0.4, streams: 300, steady: 5 }

/**
 * @typedef {object} Options
 * @property {number} rounds
 * @property {number} seconds
 * @property {number} streams
 * @property {number} steady
 * @property {string} folder
 * @property {string | undefined} json
 * @property {string | undefined} profile
 */

/**
 * Undefined: help was asked for.
 * @returns {Options | undefined}
 */
export function readOptions(args = process.argv.slice(2)) {
  const text = /** @type {const} */ ({ type: 'string' })
  const flag = /** @type {const} */ ({ type: 'boolean' })
  const { values } = parseArgs({
    args,
    options: {
      rounds: text,
      seconds: text,
      streams: text,
      steady: text,
      folder: text,
      json: text,
      profile: text,
      quick: flag,
      help: flag,
    },
  })
  if (values.help) return undefined
  const defaults = values.quick ? QUICK : FULL
  const number = (name) => (values[name] === undefined ? defaults[name] : positive(name, values[name]))
  return {
    rounds: number('rounds'),
    seconds: number('seconds'),
    streams: number('streams'),
    steady: number('steady'),
    folder: values.folder ?? join(ROOT, '.cache/bench-gateway'),
    json: values.json,
    profile: values.profile,
  }
}
