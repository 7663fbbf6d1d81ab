import pg from 'pg'
import type { Row } from '../rows.js'
import { reasonOf, StoreError } from '../store-error.js'

/** Milliseconds to wait for a connection. */
const CONNECT_TIMEOUT = 5000
/** Milliseconds to wait for a result: a server that vanishes from the network does not close its connections. */
const QUERY_TIMEOUT = 10_000

export type Query = (sql: string, parameters?: unknown[]) => Promise<Row[]>

/** A connection pool; its errors are StoreErrors. */
export interface Connection {
  query: Query
  /** Starts a transaction on a separate connection. Default: READ COMMITTED. */
  begin(mode?: string): Promise<Transaction>
  /** Runs `work` in a transaction, which is rolled back if it throws. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>
  /** Breaks all connections; what uses them fails at once, and whether it was done is unknown. */
  cut(): void
  /** Waits for open transactions. */
  close(): Promise<void>
}

export interface Transaction {
  query: Query
  commit(): Promise<void>
  /** Rolls back by closing the connection, which works even if the server does not respond. */
  abandon(): void
}

export interface ConnectOptions {
  /** Milliseconds to wait for a result; 0: forever. Default: 10 s. */
  queryTimeout?: number
  /** Statements that every new connection begins with. Default: none. */
  settings?: string | undefined
}

export function connect(
  url: string,
  connections: number,
  { queryTimeout = QUERY_TIMEOUT, settings }: ConnectOptions = {},
): Connection {
  const pool = createPool(url, connections, { queryTimeout, settings })
  const place = placeOf(new pg.Client(pool.options))
  const clients = new Set<pg.PoolClient>()
  pool.on('connect', (client) => clients.add(client))
  pool.on('remove', (client) => clients.delete(client))
  let closed = false

  /** Translates errors into StoreErrors. */
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closed) throw new StoreError('closed', 'the store is closed')
    try {
      return await work()
    } catch (error) {
      const code = sqlStateOf(error) === NUL_IN_TEXT ? 'invalid' : 'unavailable'
      throw new StoreError(code, `PostgreSQL at ${place}: ${reasonOf(error)}`, { cause: error })
    }
  }

  const begin: Connection['begin'] = async (mode = 'ISOLATION LEVEL READ COMMITTED') => {
    const client = await attempt(() => pool.connect())
    const abandon = () => client.release(true)
    const query: Query = (sql, parameters) => attempt(async () => (await client.query<Row>(sql, parameters)).rows)
    const commit = async () => {
      await query('COMMIT')
      client.release()
    }
    try {
      await query(`BEGIN ${mode}`)
    } catch (error) {
      abandon()
      throw error
    }
    return { query, commit, abandon }
  }

  return {
    query: (sql, parameters) => attempt(async () => (await pool.query<Row>(sql, parameters)).rows),
    begin,
    async transaction(work) {
      const { query, commit, abandon } = await begin()
      try {
        const result = await work(query)
        await commit()
        return result
      } catch (error) {
        abandon()
        throw error
      }
    },
    cut() {
      for (const client of clients) client.connection.stream.destroy()
    },
    async close() {
      const end = pool.end()
      closed = true
      await end
    },
  }
}

const NUL_IN_TEXT = '22021'

/** The SQLSTATE of an error; undefined if the error does not come from the server. */
export function sqlStateOf(error: unknown): string | undefined {
  const cause = error instanceof StoreError ? error.cause : error
  return cause instanceof pg.DatabaseError ? cause.code : undefined
}

function createPool(
  url: string,
  connections: number,
  { queryTimeout, settings }: ConnectOptions & { queryTimeout: number },
): pg.Pool {
  try {
    const pool = new pg.Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      query_timeout: queryTimeout,
      keepAlive: true,
      application_name: 'switchboard',
      ...(settings !== undefined && { verify: (client, done) => client.query(settings, (error) => done(error)) }),
    })
    // The pool replaces an idle connection that breaks; if it cannot, the next query fails.
    pool.on('error', () => {})
    // A connection that breaks between two queries of a transaction fails the next query and emits this event too.
    pool.on('connect', (client) => client.on('error', () => {}))
    placeOf(new pg.Client(pool.options))
    return pool
  } catch {
    // No cause: the original error quotes the URL with its password.
    throw new StoreError('unavailable', 'the URL of the PostgreSQL database is not valid')
  }
}

/** Host, port and name of the database, without user and password. */
export function placeOf({ host, port, database }: pg.Client): string {
  return `${host}:${port}/${database}`
}
