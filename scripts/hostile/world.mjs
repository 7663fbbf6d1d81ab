import { AGENT_KINDS } from './agents.mjs'
import { createRandom, seedOf } from './random.mjs'

const WORDS = (
  'translate summarise review contract invoice weather route image speech legal medical finance search index report ' +
  'schedule email travel hotel flight price stock alert monitor deploy test build convert extract classify label match ' +
  'plan draft answer question document table chart code audit tax payroll hiring lesson recipe music video map'
).split(' ')
const LANGUAGES = ['en', 'de', 'fr', 'zh', 'es', 'ja']
/** Publishers that share the agents. */
const OWNERS = 100

/** The ids of the agents that can be called; requests may register and delete those with this prefix. */
export const CALLABLE = AGENT_KINDS.map((kind) => `call-${kind}`)
export const HOSTILE_PREFIX = 'hostile-'

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
    endpoint: `https://agents.example.net/${id}`,
    inputs: {},
    outputs: {},
    ...changes,
  }
}

/** Some words of the agents' descriptions. */
export const wordsOf = (random, count) => random.times(count, () => random.pick(WORDS)).join(' ')
