import { StoreError } from './store-error.js'

/**
 * Versions in one number of the database: how many migrations it has had, and in the thousands the version below which
 * a Switchboard must not use it. Migrations only add tables and columns, so an older Switchboard goes on working, and the
 * thousands are 0. A migration that older ones cannot live with has to add its version there.
 */
const MOST_MIGRATIONS = 1000

/**
 * The number of migrations that a database has had; more than `known` if a newer Switchboard has migrated it.
 *
 * @throws {StoreError} `newer_version` if this Switchboard must not use it
 */
export function schemaVersion(stored: number, known: number): number {
  const [version, oldest] = [stored % MOST_MIGRATIONS, Math.floor(stored / MOST_MIGRATIONS)]
  if (version > known && oldest > known) throw newerVersion(version, known)
  return version
}

/** Like `schemaVersion`, for those who have to know every table. */
export function knownSchemaVersion(stored: number, known: number): number {
  const version = schemaVersion(stored, known)
  if (version > known) throw newerVersion(version, known)
  return version
}

const newerVersion = (version: number, known: number): StoreError =>
  new StoreError(
    'newer_version',
    `the database has version ${version}, but this Switchboard supports only versions up to ${known}: upgrade it`,
  )
