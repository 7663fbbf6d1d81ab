import { readFile, rename, writeFile } from 'node:fs/promises'
import { asObjects, isObject, type JsonObject, parseJson } from '@switchboard/protocol'
import { LocalError, systemCodeOf } from '../local-error.js'
import type { Consent } from './consent.js'

/** The content of the file: consents, and the tokens that pages present. */
export interface ConsentState {
  readonly consents: readonly Consent[]
  readonly tokens: readonly IssuedToken[]
}

/** A token is stored as its hash, so that the file does not reveal it. */
export interface IssuedToken {
  readonly origin: string
  /** SHA-256 of the token, in hex. */
  readonly hash: string
  readonly issuedAt: string
}

export interface ConsentFile {
  /** Throws if the file is unreadable. Treating it as empty would silently lose consents. */
  load(): Promise<ConsentState>
  save(state: ConsentState): Promise<void>
}

/** Stores consents in a file of mode 0600 that is replaced atomically. */
export function createConsentFile(path: string): ConsentFile {
  let saves = Promise.resolve()
  return {
    async load() {
      const text = await readFile(path, 'utf8').catch((error: unknown) => {
        if (systemCodeOf(error) === 'ENOENT') return undefined
        throw unreadable(path, error)
      })
      if (text === undefined) return { consents: [], tokens: [] }
      try {
        return readState(parseJson(text))
      } catch (error) {
        throw unreadable(path, error)
      }
    },
    save(state) {
      const text = `${JSON.stringify(state, undefined, 2)}\n`
      const write = async (): Promise<void> => {
        await writeFile(`${path}.new`, text, { mode: 0o600 })
        await rename(`${path}.new`, path)
      }
      // In sequence, so that the last one wins; each caller gets the error of its own save.
      const saved = saves.then(write)
      saves = saved.catch(() => {})
      return saved
    },
  }
}

function readState(value: unknown): ConsentState {
  if (!isObject(value)) throw new TypeError('not an object')
  return {
    consents: asObjects(value.consents).map((item) => ({
      origin: stringIn(item, 'origin'),
      agent: stringIn(item, 'agent'),
      capability: stringIn(item, 'capability'),
      allowedAt: stringIn(item, 'allowedAt'),
    })),
    tokens: asObjects(value.tokens).map((item) => ({
      origin: stringIn(item, 'origin'),
      hash: stringIn(item, 'hash'),
      issuedAt: stringIn(item, 'issuedAt'),
    })),
  }
}

function stringIn(item: JsonObject, name: string): string {
  const value = item[name]
  if (typeof value === 'string') return value
  throw new TypeError(`${name} must be a string`)
}

const unreadable = (path: string, cause: unknown): LocalError =>
  new LocalError('unusable', `cannot read the consents in ${path}: repair or remove the file`, { cause })
