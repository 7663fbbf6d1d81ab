// Measures quality, also among distractors, directions, languages, spelling, gibberish, calibration, cost, then speed of search, and on request the engine in PostgreSQL; see ../README.md. Each runs in a child process with memory for a million agents.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const text = { type: 'string' }
const flag = { type: 'boolean' }
const COMMON = { data: text, cache: text, quick: flag }
const PARTS = {
  quality: { sets: text, examples: flag, distractors: flag, queries: text, engines: text },
  distractors: { queries: text },
  directions: { engines: text },
  languages: { languages: text },
  spelling: { sets: text, queries: text },
  gibberish: { queries: text, engines: text },
  calibration: { sets: text, distractors: flag, queries: text },
  cost: {},
  speed: { sizes: text, rounds: text, http: text, json: text },
  postgres: { sets: text, distractors: flag, queries: text, sizes: text, embedder: text },
}
/** Parts that run only if they are named. */
const OPTIONAL = ['postgres']
/** Parts that are another one with options. */
const DISTRACTORS = ['--distractors', '--sets', 'stabletoolbench', '--engines', 'ours,static,minisearch,orama']
const VARIANTS = { distractors: { script: 'quality', args: DISTRACTORS } }
const NODE_FLAGS = ['--max-old-space-size=8000', '--expose-gc']

const { values } = parseArgs({
  options: { ...COMMON, ...PARTS.quality, ...PARTS.languages, ...PARTS.speed, ...PARTS.postgres, only: text },
})
const defaults = Object.keys(PARTS).filter((part) => !OPTIONAL.includes(part))
const only = values.only ?? defaults.join(',')
for (const part of only.split(',')) {
  if (!PARTS[part]) throw new Error(`--only must be some of ${Object.keys(PARTS).join(', ')}, not "${part}"`)
  const known = { ...COMMON, ...PARTS[part] }
  const args = Object.entries(values)
    .filter(([name]) => known[name])
    .flatMap(([name, value]) => (value === true ? [`--${name}`] : [`--${name}`, value]))
  const variant = VARIANTS[part] ?? { script: part, args: [] }
  const script = fileURLToPath(new URL(`${variant.script}.mjs`, import.meta.url))
  const { status } = spawnSync(process.execPath, [...NODE_FLAGS, script, ...variant.args, ...args], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}
