// Measures quality, languages, spelling, calibration, then speed of search; see ../README.md. Each runs in a child process with memory for a million agents.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const text = { type: 'string' }
const flag = { type: 'boolean' }
const COMMON = { data: text, cache: text, quick: flag }
const PARTS = {
  quality: { sets: text, examples: flag, distractors: flag, queries: text, engines: text },
  languages: { languages: text },
  spelling: { sets: text, queries: text },
  calibration: { sets: text, distractors: flag, queries: text },
  speed: { sizes: text, rounds: text, http: text, json: text },
}
const NODE_FLAGS = ['--max-old-space-size=8000', '--expose-gc']

const { values } = parseArgs({
  options: { ...COMMON, ...PARTS.quality, ...PARTS.languages, ...PARTS.speed, only: text },
})
const only = values.only ?? 'quality,languages,spelling,calibration,speed'
for (const part of only.split(',')) {
  if (!PARTS[part]) throw new Error(`--only must be quality, languages, spelling, calibration or speed, not "${part}"`)
  const known = { ...COMMON, ...PARTS[part] }
  const args = Object.entries(values)
    .filter(([name]) => known[name])
    .flatMap(([name, value]) => (value === true ? [`--${name}`] : [`--${name}`, value]))
  const script = fileURLToPath(new URL(`${part}.mjs`, import.meta.url))
  const { status } = spawnSync(process.execPath, [...NODE_FLAGS, script, ...args], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
