import { readFile, rename, writeFile } from 'node:fs/promises'
import { asObjects, isObject, type JsonObject, parseJson } from '@switchboard/protocol'
import { codeOf } from '../listen-privately.js'
import { LocalError } from '../local-error.js'
import type { Consent } from './consent.js'

/** What is remembered: who may do what, and which tokens prove it. */
export interface ConsentState {
  readonly consents: readonly Consent[]
  readonly tokens: readonly IssuedToken[]
}

/** A token is kept as its hash: whoever reads the file cannot use it. */
export interface IssuedToken {
  readonly origin: string
  /** SHA-256 of the token, hexadecimal. */
  readonly hash: string
  readonly issuedAt: string
}

export interface ConsentFile {
  /** A file that cannot be read is an error, never an empty one: consents would be forgotten without a word. */
  load(): Promise<ConsentState>
  save(state: ConsentState): Promise<void>
}

/** Consents in a file of mode 0600, replaced as a whole. */
export function createConsentFile(path: string): ConsentFile {
  let saves = Promise.resolve()
  return {
    async load() {
      const text = await readFile(path, 'utf8').catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return undefined
        throw broken(path, error)
      })
      if (text === undefined) return { consents: [], tokens: [] }
      try {
        return readState(parseJson(text))
      } catch (error) {
        throw broken(path, error)
      }
    },
    save(state) {
      const text = `${JSON.stringify(state, undefined, 2)}\n`
      const write = async (): Promise<void> => {
        await writeFile(`${path}.new`, text, { mode: 0o600 })
        await rename(`${path}.new`, path)
      }
      // One after the other, so that the last one wins; a failure is told to whoever asked for that save.
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
      origin: text(item, 'origin'),
      agent: text(item, 'agent'),
      capability: text(item, 'capability'),
      allowedAt: text(item, 'allowedAt'),
    })),
    tokens: asObjects(value.tokens).map((item) => ({
      origin: text(item, 'origin'),
      hash: text(item, 'hash'),
      issuedAt: text(item, 'issuedAt'),
    })),
  }
}

function text(item: JsonObject, name: string): string {
  const value = item[name]
  if (typeof value === 'string') return value
  throw new TypeError(`${name} must be a text`)
}

const broken = (path: string, cause: unknown): LocalError =>
  new LocalError('unusable', `the consents in ${path} cannot be read: repair the file or remove it`, { cause })
