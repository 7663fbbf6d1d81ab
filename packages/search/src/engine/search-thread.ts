import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { type AbuseChecks, createAbuseChecks } from '../abuse/abuse-checks.js'
import { builtInStaticEncoder } from '../embedding/static-encoder.js'
import { openLexicon } from '../lexicon/lexicon.js'
import { NumberSet } from '../number-set.js'
import { createIndexFile, type IndexFile } from '../saved/index-file.js'
import { type Candidates, createTextSearch, type TextSearch } from '../text-search.js'
import type { Change, FromThread, Request, Requests, ThreadIndexOptions, ToThread } from './messages.js'

/** The program of the search thread: it holds text indexes and checks for abuse, in the order of the messages, rankings first. */

interface Index {
  readonly search: TextSearch
  /** Undefined: the index is not saved. */
  readonly file: IndexFile | undefined
  /** Why the file was not used. */
  readonly rejected: string | undefined
  /** Changes since the index was opened, of everything that is saved; and how many of them the file contains. */
  changes: number
  savedChanges: number
  /** The last attempt to save it. */
  saving: Promise<unknown>
  /** Searches that wait to be ranked, by the id of their request. */
  readonly found: Map<number, Candidates>
}

const port = parentPort
if (!port) throw new Error('search-thread.js is the program of a worker thread')
const indexes = new Map<number, Index>()
const checks = new Map<number, AbuseChecks>()

function open({ rerankLimit, isStatic = false, lexicon = [], path, isRestored = false }: ThreadIndexOptions): Index {
  const encoder = isStatic ? builtInStaticEncoder() : undefined
  const file = path === undefined ? undefined : createIndexFile(path, { isStatic, lexicon })
  const { state: saved, rejected } = (isRestored && file?.read()) || {}
  const search = createTextSearch({ rerankLimit, encoder, lexicon: openLexicon(lexicon), saved })
  return { search, file, rejected, changes: 0, savedChanges: 0, saving: Promise.resolve(), found: new Map() }
}

function save(index: Index): Promise<boolean> {
  const saved = index.saving.then(() => writeChanges(index))
  index.saving = saved.catch(() => undefined)
  return saved
}

/** Saves in steps, between which other messages are handled. */
async function writeChanges(index: Index): Promise<boolean> {
  const { file, search, changes } = index
  if (!file || index.savedChanges === changes) return true
  const isSaved = await file.write(search.state, () => index.changes !== changes)
  if (isSaved) index.savedChanges = changes
  return isSaved
}

function apply(index: number, change: Change): void {
  const own = indexes.get(index)
  const search = own?.search
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
      if (own) own.changes++
      search?.put(change.number, change.text, change.isPublic, change.version)
      break
    case 'remove':
      if (own) own.changes++
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
  index: Index,
  request: Exclude<Request, { kind: 'check' }>,
): Requests[keyof Requests]['result'] | Promise<boolean> {
  const { search, found, rejected } = index
  switch (request.kind) {
    case 'versions':
      return { versions: search.versions, rejected }
    case 'save':
      return save(index)
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

/** A request that takes several steps responds later. */
function handle(message: ToThread): FromThread | undefined {
  const { index } = message
  const isRequest = 'id' in message
  const failed = (error: unknown): FromThread => {
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return isRequest ? { index, id: message.id, failed: reason } : { index, problem: `${message.kind}: ${reason}` }
  }
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
    const succeeded = (result: unknown): FromThread => ({ index, id: message.id, result, bytes: own.search.bytes })
    const result = respond(own, message)
    if (!(result instanceof Promise)) return succeeded(result)
    result.then(succeeded, failed).then(send)
    return undefined
  } catch (error) {
    return failed(error)
  }
}

const send = (message: FromThread): void => port.postMessage([message])

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
    } else if (response) send(response)
    for (let more = receiveMessageOnPort(port); more; more = receiveMessageOnPort(port)) enqueue(more.message)
    if (urgent.length + others.length === 0) postChecked()
  }
})
