import { randomBytes } from 'node:crypto'
import type { Query } from '@switchboard/search'
import type { Caller } from '../../policy/caller.js'
import { choiceFactor } from '../../policy/choice-factor.js'
import { addDecayedChoice, MAX_CHOICES, type StoredChoice } from '../../store/statistics-store.js'
import type { Store } from '../../store/store.js'
import type { Agent } from '../registry/catalog.js'
import { isPrivate } from '../registry/hidden-agents.js'
import type { Replicas } from '../replicas/replicas.js'
import { createSearchIds, MAX_SHOWN, MAX_TERMS } from './search-ids.js'

/**
 * Learns which agents callers choose after a search. It counts by agent and term, without identities: who has counted today is
 * known in memory until the day ends. Only public agents are counted, and only by callers with credentials.
 */
export interface SearchChoices {
  /** The id for the response of a search that lists these agents; undefined if there is nothing to learn from it. */
  idFor(query: Query, agents: readonly Agent[]): string | undefined
  /**
   * Counts that the caller chose the agent after the search with this id. Nothing happens if the id is unknown or expired, if
   * the agent was not listed, or if an agent of the caller was listed there or before it.
   *
   * @param isGood whether the call succeeded; if not, the agent counts as shown but not as chosen
   */
  chose(id: string | undefined, agent: Agent, caller: Caller, isGood: boolean): void
  /** Score factors of agents for a query: 0.97 to 1.05, 1 without evidence. */
  factorsFor(query: Query): (agent: Agent) => number
  /** Writes what is new and reads what other replicas have counted. */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface SearchChoicesOptions {
  readonly store: Store
  readonly claim: Replicas['claim']
  readonly byNumber: (number: number) => Agent | undefined
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** Milliseconds between synchronisations; a crash loses what was counted since the last one. */
const SYNC_MS = 10_000
/** Milliseconds by which clocks of replicas may differ, plus the time that a write takes. */
const OVERLAP_MS = 60_000
const DAY_MS = 86_400_000
/** Milliseconds after which a choice counts half. */
const HALF_LIFE_MS = 28 * DAY_MS
/** Milliseconds after which an agent and term that nobody has used are forgotten. */
const FORGET_MS = 30 * DAY_MS
/** Pairs of agent and term that one caller counts for on a day, and all callers together at this replica. */
const MAX_DAILY_PAIRS = { ofCaller: 300, ofAll: 100_000 }
/** Name of the secret among the settings of the store. */
const SETTING = 'search_secret'

/** A choice that still has to be claimed: another replica may have counted the same caller today. */
interface NewChoice extends StoredChoice {
  readonly claim: string
}

export async function createSearchChoices(options: SearchChoicesOptions): Promise<SearchChoices> {
  const { store, claim, byNumber, now, onError } = options
  const ids = createSearchIds(await store.putSetting(SETTING, randomBytes(32).toString('base64url'), true), now)
  /** By agent, then by term. */
  const known = new Map<number, Map<string, StoredChoice>>()
  let added: NewChoice[] = []
  let readAt = 0
  let today = createDay(now(), ids.hash)

  const read = async (): Promise<void> => {
    const at = now()
    for (const choice of await store.statistics.choicesSince(readAt - OVERLAP_MS)) {
      const terms = known.get(choice.number) ?? new Map<string, StoredChoice>()
      known.set(choice.number, terms.set(choice.term, choice))
    }
    readAt = at
  }

  const write = async (): Promise<void> => {
    const sent = added
    added = []
    try {
      const ours = await claim(
        sent.map((choice) => choice.claim),
        DAY_MS,
      )
      await store.statistics.addChoices(joined(sent.filter((choice) => ours.has(choice.claim))), HALF_LIFE_MS)
    } catch (error) {
      added = [...sent, ...added]
      throw error
    }
  }

  await read()
  let running: Promise<void> | undefined
  const run = (): Promise<void> => {
    running ??= write()
      .then(read)
      .then(() => forget(known, now() - FORGET_MS, (number) => byNumber(number) !== undefined))
      .finally(() => {
        running = undefined
      })
    return running
  }
  const timer = setInterval(() => run().catch(onError), SYNC_MS)
  timer.unref()

  return {
    idFor(query, agents) {
      const shown = agents.filter((agent) => !isPrivate(agent)).slice(0, MAX_SHOWN)
      const terms = termsOf(query)
      if (shown.length === 0 || terms.length === 0) return undefined
      return ids.write({ terms: terms.map(ids.hash), agents: shown.map(({ number }) => number) })
    },
    chose(id, agent, { subject }, isGood) {
      const search = id === undefined || subject === undefined ? undefined : ids.read(id)
      const place = search?.agents.indexOf(agent.number) ?? -1
      if (!search || subject === undefined || place < 0) return
      const seen = search.agents.slice(0, place + 1).flatMap((number) => byNumber(number) ?? [])
      if (seen.some(({ owner }) => owner === subject)) return
      const at = now()
      if (!today.includes(at)) today = createDay(at, ids.hash)
      for (const { number } of seen.filter((each) => !isPrivate(each))) {
        for (const term of search.terms) {
          const mark = today.mark(subject, `${number} ${term}`)
          const chosen = isGood && number === agent.number ? 1 : 0
          if (mark !== undefined) added.push({ number, term, at, shown: 1, chosen, claim: mark })
        }
      }
    },
    factorsFor(query) {
      const terms = known.size === 0 ? [] : termsOf(query).map(ids.hash)
      return (agent) => {
        const own = terms.length === 0 ? undefined : known.get(agent.number)
        if (!own || isPrivate(agent)) return 1
        const at = now()
        return choiceFactor(
          terms.map((term) => {
            const choice = own.get(term)
            return choice && addDecayedChoice(choice, { ...choice, at, shown: 0, chosen: 0 }, HALF_LIFE_MS)
          }),
        )
      }
    },
    sync: run,
    async close() {
      clearInterval(timer)
      await running?.catch(onError)
      await write().catch(onError)
    },
  }
}

/**
 * The normalised terms that are learned from, one for each word of the query: of a word of another language, its first meaning
 * in English. Of a long query the longest, which are the rarest.
 */
function termsOf({ words: { terms } }: Query): string[] {
  const byWord = new Map<number, (typeof terms)[number]>()
  for (const term of terms) {
    const chosen = byWord.get(term.group)
    if (!chosen || (chosen.english === undefined && term.english !== undefined)) byWord.set(term.group, term)
  }
  return [...new Set(Array.from(byWord.values(), ({ term }) => term))]
    .toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1))
    .slice(0, MAX_TERMS)
}

interface Day {
  includes(at: number): boolean
  /** Marks that the subject counts for a pair; undefined if it has counted already, or too often. */
  mark(subject: string, pair: string): string | undefined
}

/** The choices that callers have already made today. Names stay in memory; the marks are keyed hashes and do not reveal them. */
function createDay(at: number, hash: (text: string) => string): Day {
  const day = Math.floor(at / DAY_MS)
  const pairs = new Map<string, Set<string>>()
  let count = 0
  return {
    includes: (time) => Math.floor(time / DAY_MS) === day,
    mark(subject, pair) {
      const own = pairs.get(subject) ?? new Set<string>()
      if (own.has(pair) || own.size >= MAX_DAILY_PAIRS.ofCaller || count >= MAX_DAILY_PAIRS.ofAll) return undefined
      pairs.set(subject, own.add(pair))
      count++
      return `choice ${hash(JSON.stringify([day, subject, pair]))}`
    },
  }
}

/** One entry for each agent and term. */
function joined(choices: readonly NewChoice[]): StoredChoice[] {
  const byPair = new Map<string, StoredChoice>()
  for (const { claim: _claim, ...choice } of choices) {
    const pair = `${choice.number} ${choice.term}`
    const before = byPair.get(pair)
    byPair.set(pair, before ? addDecayedChoice(before, choice, HALF_LIFE_MS) : choice)
  }
  return [...byPair.values()]
}

/** Drops what is old, agents that are gone and, if there is too much, what was shown least: as the store does. */
function forget(
  known: Map<number, Map<string, StoredChoice>>,
  before: number,
  isKnown: (number: number) => boolean,
): void {
  for (const [number, terms] of known) {
    for (const [term, { at }] of terms) if (at < before) terms.delete(term)
    if (terms.size === 0 || !isKnown(number)) known.delete(number)
  }
  const all = [...known.values()].flatMap((terms) => [...terms.values()])
  if (all.length <= MAX_CHOICES) return
  for (const { number, term } of all.toSorted((a, b) => b.shown - a.shown || b.at - a.at).slice(MAX_CHOICES)) {
    known.get(number)?.delete(term)
  }
}
