import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../../scripts/tree.mjs'

export const HELP = `bench/registry: compares registering, reading, looking up and starting with bare alternatives

  --data FILE      agents, one JSON object per line (../shared/retrieval/load/agents.jsonl; synthetic if missing)
  --agents N       number of agents (all; 48,039 if synthetic)
  --rounds N       number of rounds; each measures all alternatives in turn (5)
  --seconds N      length of one measurement (1)
  --starts N       starts of each process (5)
  --folder FOLDER  folder for databases, on the disk to measure (.cache/bench-registry)
  --only KINDS     some of starts, reads and writes, separated by commas (all)
  --json FILE      also write the results to this file
  --quick          30 seconds: 8,000 agents, 3 short rounds, 2 starts
  --profile DIR    instead: write CPU profiles of the directory for each load, and print a summary
`

const FULL = { agents: undefined, rounds: 5, seconds: 1, starts: 5 }
const QUICK = { agents: 8000, rounds: 3, seconds: 0.4, starts: 2 }

/**
 * @typedef {object} Options
 * @property {string} data
 * @property {number | undefined} agents
 * @property {number} rounds
 * @property {number} seconds
 * @property {number} starts
 * @property {string} folder
 * @property {string[]} only
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
      data: text,
      agents: text,
      rounds: text,
      seconds: text,
      starts: text,
      folder: text,
      only: text,
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
    data: values.data ?? join(ROOT, '../shared/retrieval/load/agents.jsonl'),
    agents: number('agents'),
    rounds: number('rounds'),
    seconds: number('seconds'),
    starts: number('starts'),
    folder: values.folder ?? join(ROOT, '.cache/bench-registry'),
    only: values.only?.split(',') ?? ['starts', 'reads', 'writes'],
    json: values.json,
    profile: values.profile,
  }
}

/** Parses a positive number. */
export function positive(name, text) {
  const value = Number(text)
  if (!(value > 0)) throw new Error(`--${name} must be a positive number, not "${text}"`)
  return value
}
