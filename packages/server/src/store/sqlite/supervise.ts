import { reasonOf } from '../store-error.js'
import type { StoreFault, StoreHealth } from '../store-health.js'
import { prepare, rowOf, type Sqlite, toStoreError } from './database.js'
import type { Writer } from './start-writer.js'

/** Bytes that a check writes: a disk that has less room left is full. */
const ROOM = 65_536

/** A writer whose operations are supervised. */
export function supervise(db: Sqlite, folder: string, writer: Writer, health: StoreHealth): Writer {
  const end = health.supervise({
    async check() {
      let kind: StoreFault['kind'] = 'unreachable'
      try {
        rowOf(prepare(db, 'SELECT count(*) FROM sqlite_master'))
        kind = 'read_only'
        for (const value of [' '.repeat(ROOM), '']) {
          await writer.run('putSetting', { name: 'checked', value, onlyNew: false })
        }
        return undefined
      } catch (error) {
        return { kind, reason: reasonOf(toStoreError(error, folder)) }
      }
    },
  })
  return {
    run: (kind, params, document) => health.run(() => writer.run(kind, params, document)),
    close() {
      end()
      return writer.close()
    },
  }
}
