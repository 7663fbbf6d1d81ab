import { isStoreFailure, type StoreError } from '../store-error.js'
import type { StoreFault, StoreHealth } from '../store-health.js'
import { isDamage, prepare, rowOf, type Sqlite, toStoreError } from './database.js'
import type { Writer } from './start-writer.js'

/** Bytes that a check writes: a disk that has less room left is full. */
const ROOM = 65_536

export interface SupervisedWriter extends Writer {
  /** Notes that a read failed. */
  readFailed(error: StoreError): void
}

/**
 * A writer whose operations are supervised. Once a part of the file is known to be damaged, nothing more is written to it, even if other
 * parts still work.
 */
export function supervise(db: Sqlite, folder: string, writer: Writer, health: StoreHealth): SupervisedWriter {
  let damage: StoreError | undefined
  const noteDamage = (error: unknown): void => {
    if (isStoreFailure(error) && isDamage(error)) damage = error
  }
  const end = health.supervise({
    async check() {
      if (damage) return { kind: 'read_only', reason: damage.message }
      let kind: StoreFault['kind'] = 'unreachable'
      try {
        rowOf(prepare(db, 'SELECT count(*) FROM sqlite_master'))
        kind = 'read_only'
        for (const value of [' '.repeat(ROOM), '']) {
          await writer.run('putSetting', { name: 'checked', value, onlyNew: false })
        }
        return undefined
      } catch (error) {
        return { kind, reason: toStoreError(error, folder).message }
      }
    },
  })
  return {
    run: (kind, params, document) =>
      health.run(async () => {
        try {
          return await writer.run(kind, params, document)
        } catch (error) {
          noteDamage(error)
          throw error
        }
      }),
    readFailed(error) {
      noteDamage(error)
      health.failed(error)
    },
    close() {
      end()
      return writer.close()
    },
  }
}
