import { AGENT_KINDS } from './agents.mjs'
import { createRandom, seedOf } from './random.mjs'

const WORDS = (
  'translate summarise review contract invoice weather route image speech legal medical finance search index report ' +
  'schedule email travel hotel flight price stock alert monitor deploy test build convert extract classify label match ' +
  'plan draft answer question document table chart code audit tax payroll hiring lesson recipe music video map'
).split(' ')
const LANGUAGES = ['en', 'de', 'fr', 'zh', 'es', 'ja']
/** Where nothing listens: a call must not leave this machine. */
const NOBODY = 'http://127.0.0.1:9'
/** Publishers that share the agents. */
const OWNERS = 100

/** The ids of the agents that can be called. */
export const CALLABLE = AGENT_KINDS.map((kind) => `call-${kind}`)
/** The ids of agents that requests register and delete. The first two have schemas that are expensive to check. */
export const HOSTILE_IDS = Array.from({ length: 40 }, (_, n) => `hostile-${n}`)
export const SCHEMA_IDS = HOSTILE_IDS.slice(0, 2)

/** @returns the id of agent `n` */
export const agentId = (n) => `agent-${n}`

/** Lines for the bulk import: `count` agents, and those that can be called. */
export function worldLines(count, seed, agentsUrl) {
  const callable = AGENT_KINDS.map((kind, n) => ({
    document: document(createRandom(n), `call-${kind}`, { endpoint: `${agentsUrl}/${kind}` }),
  }))
  const others = Array.from({ length: count }, (_, n) => ({
    owner: `publisher-${n % OWNERS}`,
    document: document(createRandom(seedOf(seed, n)), agentId(n)),
  }))
  return [...callable, ...others].map((line) => JSON.stringify(line))
}

/** A valid AIDIP document. */
export function document(random, id, changes = {}) {
  const words = random.times(12 + random.below(20), () => random.pick(WORDS))
  return {
    id,
    name: `${words[0]} ${words[1]} ${id}`,
    description: `Can ${words.join(' ')}.`,
    version: `${1 + random.below(3)}.${random.below(10)}.0`,
    capabilities: [...new Set(words.slice(0, 3))],
    tags: [...new Set(words.slice(3, 9))],
    languages: [random.pick(LANGUAGES)],
    endpoint: `${NOBODY}/${id}`,
    inputs: {},
    outputs: {},
    ...changes,
  }
}

/** Some words of the agents' descriptions. */
export const wordsOf = (random, count) => random.times(count, () => random.pick(WORDS)).join(' ')
