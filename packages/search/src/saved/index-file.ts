import type { LexiconFile } from '../lexicon/lexicon.js'
import type { TextSearchState } from '../text-search.js'
import { readState, StateFileError, writeState } from './state-file.js'
import { stateIdentity } from './state-identity.js'

/** The file that keeps a text index between two starts. */
export interface IndexFile {
  /** Returns no state if there is no file, or the reason why it is of no use. */
  read(): { readonly state?: TextSearchState; readonly rejected?: string }
  /** See `writeState`. */
  write(state: TextSearchState, isStale: () => boolean): Promise<boolean>
}

/** @param options those of the index that its content depends on */
export function createIndexFile(
  path: string,
  options: { isStatic: boolean; lexicon: readonly LexiconFile[] },
): IndexFile {
  const identity = stateIdentity(options)
  return {
    read() {
      try {
        return { state: readState<TextSearchState>(path, identity) }
      } catch (error) {
        if (error instanceof StateFileError) return { rejected: error.message }
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
        return { rejected: String(error) }
      }
    },
    write: (state, isStale) => writeState(path, identity, state, isStale),
  }
}
