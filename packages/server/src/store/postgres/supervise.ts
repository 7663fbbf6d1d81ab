import pg from 'pg'
import { reasonOf } from '../store-error.js'
import type { StoreHealth, SupervisedStore } from '../store-health.js'
import { type Connection, placeOf, sqlStateOf } from './connect.js'

/** Milliseconds in which a working database connects, and responds to each statement of a check. */
const CHECK_TIMEOUT_MS = 3000
/** Bytes that a check writes: a disk that has less room left is full. */
const ROOM = 65_536
const TOO_MANY_CONNECTIONS = '53300'

/** The connection of the store. While it is supervised, operations fail at once if the database is unreachable. */
export function supervise(connection: Connection, url: string, health: StoreHealth): Connection {
  const end = health.supervise({ check: () => checkDatabase(url), cut: connection.cut })
  return {
    ...failingFast(connection, health),
    close() {
      end()
      return connection.close()
    },
  }
}

/** A connection whose operations fail at once while the supervised database is unreachable. */
export function failingFast(connection: Connection, health: StoreHealth): Connection {
  return {
    ...connection,
    query: (sql, parameters) => health.run(() => connection.query(sql, parameters)),
    transaction: (work) => health.run(() => connection.transaction(work)),
    async begin(mode) {
      const transaction = await health.run(() => connection.begin(mode))
      return {
        ...transaction,
        query: (sql, parameters) => health.run(() => transaction.query(sql, parameters)),
        commit: () => health.run(() => transaction.commit()),
      }
    },
  }
}

/**
 * Reads and writes a row on a new connection: after a failover, an old one may still lead to the former primary. The
 * timeout of the server ends checks that wait for each other's lock, so that they do not use up its connections.
 */
async function checkDatabase(url: string): ReturnType<SupervisedStore['check']> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CHECK_TIMEOUT_MS,
    query_timeout: CHECK_TIMEOUT_MS,
    application_name: 'switchboard check',
  })
  // A connection that breaks fails the query and emits this event too.
  client.on('error', () => {})
  let isReadable = false
  try {
    await client.connect()
    await client.query('BEGIN')
    await client.query(`SET LOCAL statement_timeout = ${CHECK_TIMEOUT_MS - 500}`)
    await client.query('SELECT version FROM switchboard')
    isReadable = true
    await client.query(`UPDATE switchboard SET room = repeat(' ', ${ROOM})`)
    await client.query('UPDATE switchboard SET room = NULL')
    await client.query('COMMIT')
    return undefined
  } catch (error) {
    // The server works; whatever failed for want of a connection is reported for itself.
    if (sqlStateOf(error) === TOO_MANY_CONNECTIONS) return undefined
    const kind = isReadable ? 'read_only' : 'unreachable'
    return { kind, reason: `PostgreSQL at ${placeOf(client)}: ${reasonOf(error)}` }
  } finally {
    // Not `end`, which waits for the server.
    client.connection.stream.destroy()
  }
}
