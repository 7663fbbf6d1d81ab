import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { type AbuseChecks, createAbuseChecks } from '../abuse/abuse-checks.js'
import { builtInStaticEncoder } from '../embedding/static-encoder.js'
import { openLexicon } from '../lexicon/lexicon.js'
import { NumberSet } from '../number-set.js'
import { type Candidates, createTextSearch, type TextSearch } from '../text-search.js'
import type { Change, FromThread, Request, Requests, ThreadIndexOptions, ToThread } from './messages.js'

/** The program of the search thread: it holds text indexes and answers in the order of the messages. */

interface Index {
  readonly search: TextSearch
  /** Searches that wait to be ranked, by the id of their request. */
  readonly found: Map<number, Candidates>
}

const port = parentPort
if (!port) throw new Error('search-thread.js is the program of a worker thread')
const indexes = new Map<number, Index>()
const checks = new Map<number, AbuseChecks>()

function open({ rerankLimit, isStatic = false, lexicon }: ThreadIndexOptions): Index {
  const encoder = isStatic ? builtInStaticEncoder() : undefined
  return { search: createTextSearch({ rerankLimit, encoder, lexicon: openLexicon(lexicon) }), found: new Map() }
}

function apply(index: number, change: Change): void {
  const search = indexes.get(index)?.search
  switch (change.kind) {
    case 'open':
      indexes.set(index, open(change.options))
      break
    case 'close':
      indexes.delete(index)
      checks.delete(index)
      break
    case 'openChecks':
      checks.set(index, createAbuseChecks())
      break
    case 'forget':
      checks.get(index)?.remove(change.number)
      break
    case 'put':
      search?.put(change.number, change.text, change.isPublic)
      break
    case 'remove':
      search?.remove(change.number)
      break
    case 'setDimensions':
      search?.setDimensions(change.dimensions)
      break
    case 'putVectors':
      search?.putVectors(change.number, change.packed)
      break
    case 'removeVectors':
      search?.removeVectors(change.number)
      break
  }
}

function respond(
  { search, found }: Index,
  request: Exclude<Request, { kind: 'check' }>,
): Requests[keyof Requests]['result'] {
  switch (request.kind) {
    case 'settled':
      return undefined
    case 'read':
      return search.read(request.text, request.options)
    case 'suggest':
      return search.suggest(request.unknown)
    case 'find': {
      const { query, vectors, accepted, approximate, end } = request
      const candidates = search.find(query, vectors, { accepted: NumberSet.of(accepted), approximate, end })
      if (request.isKept) found.set(request.id, candidates)
      const { numbers, total } = candidates
      return { numbers: request.isKept ? numbers : [], total, all: request.all ? candidates.matching() : [] }
    }
    case 'rank': {
      const candidates = found.get(request.found)
      found.delete(request.found)
      return candidates?.rank(request.adjustments).slice(request.skip, request.skip + request.take) ?? []
    }
    case 'evidence':
      return request.numbers.map((number) => search.evidence(request.query, request.vectors, number))
  }
}

/** Checks do not count as memory of the index. */
const NO_BYTES = { words: 0, vectors: 0 }

function handle(message: ToThread): FromThread | undefined {
  const { index } = message
  const isRequest = 'id' in message
  try {
    if (!isRequest) {
      apply(index, message)
      return undefined
    }
    if (message.kind === 'check') {
      const result = checks.get(index)?.check(message.number, message.agent) ?? []
      return { index, id: message.id, result, bytes: NO_BYTES }
    }
    const own = indexes.get(index)
    if (!own) throw new Error('the index is closed')
    return { index, id: message.id, result: respond(own, message), bytes: own.search.bytes }
  } catch (error) {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return isRequest ? { index, id: message.id, failed: reason } : { index, problem: `${message.kind}: ${reason}` }
  }
}

/** Searches that only wait to be ranked go first: they take little time, and somebody has waited for them already. */
const urgent: ToThread[] = []
const others: ToThread[] = []
const enqueue = (messages: readonly ToThread[]): void => {
  for (const message of messages) (message.kind === 'rank' ? urgent : others).push(message)
}

/** Results of checks: one message for many costs far less than one for each. */
let checked: FromThread[] = []
const MAX_CHECKED = 32
const postChecked = (): void => {
  if (checked.length > 0) port.postMessage(checked)
  checked = []
}

port.on('message', (first: readonly ToThread[]) => {
  enqueue(first)
  for (let next = urgent.shift() ?? others.shift(); next; next = urgent.shift() ?? others.shift()) {
    const response = handle(next)
    if (response && next.kind === 'check') {
      if (checked.push(response) === MAX_CHECKED) postChecked()
    } else if (response) port.postMessage([response])
    for (let more = receiveMessageOnPort(port); more; more = receiveMessageOnPort(port)) enqueue(more.message)
    if (urgent.length + others.length === 0) postChecked()
  }
})
