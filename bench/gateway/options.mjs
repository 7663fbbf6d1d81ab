import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../../scripts/tree.mjs'
import { positive } from '../registry/options.mjs'

export const HELP = `bench/gateway: compares a call through the directory with proxies that check nothing

  --rounds N       number of rounds; each measures all servers in turn (5)
  --seconds N      length of one measurement (1)
  --streams N      concurrent streams (1000)
  --steady N       seconds of the memory measurement (30)
  --folder FOLDER  folder for the database (.cache/bench-gateway)
  --json FILE      also write the results to this file
  --quick          about a minute: 3 short rounds
  --profile DIR    instead: write CPU profiles of the directory for calls and streams, and print a summary
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
 * Returns undefined for `--help`.
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
