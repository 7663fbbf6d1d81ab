import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@switchboard/protocol'
import { aidipAgent } from '../support/documents.js'
import { REPLICAS } from './cluster.js'
import type { Random } from './random.js'
import type { Recorder } from './recorder.js'

/** Agents that only one writer changes, those that all change conditionally, and names that all want. */
const OWN_AGENTS = 3
const SHARED_AGENTS = ['shared-0', 'shared-1']
/** Milliseconds in which all writers claim the same name. */
const CLAIM_MS = 4000
/** Seconds of the shortest lease. */
const LEASE_SECONDS = 60
/** Milliseconds between two reads while waiting for a change to arrive. */
const WATCH_MS = 15
/** Milliseconds after which nobody waits any longer; the checks at the end find what is missing. */
const GIVE_UP_MS = 3000

export interface WritersOptions {
  readonly recorder: Recorder
  readonly random: Random
  /** API keys, by owner. */
  readonly keys: ReadonlyMap<string, string>
  readonly isCalm: () => boolean
}

export interface Writers {
  /** Works until `stop` is called. */
  run(writer: number): Promise<void>
  stop(): void
  /** Everything that was ever written. */
  readonly agents: ReadonlySet<string>
  /** Milliseconds from a response until the change was seen on another replica, while nothing was disturbed. */
  readonly delays: number[]
}

const documentOf = (id: string, value: string): JsonObject =>
  aidipAgent({ id, name: id, marker: value, description: `Made for a test: ${wordOf(value)}.` })

/** A word that only this value has. */
const wordOf = (value: string): string => `zq${value.replaceAll('-', 'x')}`

export function createWriters({ recorder, random, keys, isCalm }: WritersOptions): Writers {
  const { write, read, send, history } = recorder
  const agents = new Set<string>()
  const delays: number[] = []
  const start = Date.now()
  const owners = [...keys.keys()]
  let values = 0
  let isStopped = false

  const newValue = (): string => `v${++values}`
  const keyOf = (owner: string): string => keys.get(owner) ?? ''
  const ownerOf = (writer: number): string => owners[writer % owners.length] ?? ''

  /** Registers, updates or removes an agent of this writer, and looks at it. */
  const changeOwn = async (writer: number, own: Map<string, boolean>): Promise<void> => {
    const agent = `own-${writer}-${Math.floor(random() * OWN_AGENTS)}`
    const key = keyOf(ownerOf(writer))
    const replica = random.pick(REPLICAS)
    agents.add(agent)
    const exists = own.get(agent) === true
    if (exists && random() < 0.25) {
      const { outcome } = await write(replica, key, {
        ...{ kind: 'delete', agent, method: 'DELETE', path: `/agents/${agent}` },
        value: undefined,
      })
      if (outcome === 'ok') own.set(agent, false)
      if (outcome !== 'refused') await read(replica, key, agent)
      return
    }
    const value = newValue()
    const path = exists ? `/agents/${agent}` : '/agents'
    const { outcome } = await write(replica, key, {
      ...{ kind: exists ? 'update' : 'register', agent, value, path },
      ...{ method: exists ? 'PUT' : 'POST', body: documentOf(agent, value) },
    })
    own.set(agent, outcome === 'ok')
    await read(replica, key, agent)
    if (outcome === 'ok' && random() < 0.3) await search(replica, key, agent, value)
    if (outcome === 'ok' && random() < 0.4 && isCalm())
      await Promise.all(others(replica).map((at) => watch(at, key, agent, value)))
  }

  const others = (replica: number): number[] => REPLICAS.filter((other) => other !== replica)

  /** Measures when a change arrives on another replica. */
  const watch = async (replica: number, key: string, agent: string, value: string): Promise<void> => {
    const from = Date.now()
    while (!isStopped && isCalm() && Date.now() - from < GIVE_UP_MS) {
      const seen = await read(replica, key, agent)
      if (seen?.value === value) return void (isCalm() && delays.push(seen.at - from))
      await sleep(WATCH_MS)
    }
    if (!isStopped && isCalm()) delays.push(GIVE_UP_MS)
  }

  const search = async (replica: number, key: string, agent: string, value: string): Promise<void> => {
    const at = Date.now()
    const answer = await send(replica, key, 'POST', '/agents/search', { body: { query: wordOf(value) } })
    if (answer?.status !== 200) return
    const isFound = answer.json.some(({ id }: { id: string }) => id === agent)
    // After a start, agents are found by words only when their words are indexed; the response says so.
    if (!isFound && answer.headers.get('x-switchboard-warnings')?.includes('index')) return
    const times = { start: at, end: Date.now() }
    history.push({ kind: 'search', agent, replica, ...times, outcome: 'ok', value, isFound })
  }

  /** Changes an agent that others change too, if it is still what was read. */
  const changeShared = async (): Promise<void> => {
    const agent = random.pick(SHARED_AGENTS)
    const key = keyOf(owners[0] ?? '')
    const replica = random.pick(REPLICAS)
    agents.add(agent)
    const seen = await read(replica, key, agent)
    if (!seen) return
    const value = newValue()
    const body = documentOf(agent, value)
    if (seen.value === undefined || seen.tag === undefined) return
    await write(random.pick(REPLICAS), key, {
      ...{ kind: 'update', agent, value, base: seen.value, method: 'PUT', path: `/agents/${agent}`, body },
      headers: { 'if-match': seen.tag },
    })
  }

  /** Claims a name that writers of all owners want at the same time. */
  const claim = async (writer: number): Promise<void> => {
    const agent = `claimed-${Math.floor((Date.now() - start) / CLAIM_MS)}`
    const owner = ownerOf(writer)
    const body = documentOf(agent, owner)
    agents.add(agent)
    await write(random.pick(REPLICAS), keyOf(owner), {
      ...{ kind: 'register', agent, value: owner, owner, method: 'POST', path: '/agents', body },
    })
  }

  /** Registers an agent whose document expires soon. */
  const registerShort = async (writer: number): Promise<void> => {
    const value = newValue()
    const agent = `short-${writer}-${value}`
    const expiresAt = Date.now() + Math.floor(random.between(1500, 5000))
    const body = {
      ...{ id: agent, name: agent, marker: value, expires_at: new Date(expiresAt).toISOString() },
      bindings: [{ protocol: 'https', endpoint: 'https://agents.example.net/short' }],
    }
    agents.add(agent)
    await write(random.pick(REPLICAS), keyOf(ownerOf(writer)), {
      ...{ kind: 'register', agent, value, method: 'POST', path: '/discover/agents', body },
      ends: () => ({ earliest: expiresAt, latest: expiresAt }),
    })
  }

  /** Registers an agent with the shortest lease, which half of the writers renew once, on another replica. */
  const lease = async (writer: number): Promise<void> => {
    const value = newValue()
    const agent = `leased-${writer}`
    const key = keyOf(ownerOf(writer))
    const replica = writer % REPLICAS.length
    agents.add(agent)
    const ends = (from: number, to: number) => ({
      earliest: from + LEASE_SECONDS * 1000,
      latest: to + LEASE_SECONDS * 1000,
    })
    const body = { base: 'https://agents.example.net', marker: value }
    const path = `/ad/r?agent=${agent}&lt=${LEASE_SECONDS}`
    const { answer } = await write(replica, key, { kind: 'register', agent, value, method: 'POST', path, body, ends })
    const location = answer?.headers.get('location')
    if (writer % 2 === 0 || !location) return
    await sleep(4000)
    const other = (replica + 1) % REPLICAS.length
    await write(other, key, { kind: 'refresh', agent, value, method: 'POST', path: location, ends })
  }

  return {
    agents,
    delays,
    stop() {
      isStopped = true
    },
    async run(writer) {
      const own = new Map<string, boolean>()
      if (writer === 0) {
        for (const agent of SHARED_AGENTS) {
          const value = newValue()
          const body = documentOf(agent, value)
          await write(0, keyOf(owners[0] ?? ''), {
            kind: 'register',
            agent,
            value,
            method: 'POST',
            path: '/agents',
            body,
          })
        }
      }
      const leased = lease(writer)
      while (!isStopped) {
        const dice = random()
        if (dice < 0.55) await changeOwn(writer, own)
        else if (dice < 0.75) await changeShared()
        else if (dice < 0.8) await claim(writer)
        else if (dice < 0.9) await registerShort(writer)
        else await read(random.pick(REPLICAS), keyOf(ownerOf(writer)), random.pick([...agents, SHARED_AGENTS[0] ?? '']))
        // Leaves some of the two processors of a small machine to the replicas.
        await sleep(random.between(5, 40))
      }
      await leased
    },
  }
}
