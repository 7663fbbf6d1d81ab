import pg from 'pg'
import type { Row } from '../rows.js'
import { reasonOf, StoreError } from '../store-error.js'

/** Milliseconds until an unreachable server is given up. */
const CONNECT_TIMEOUT = 5000
/** Milliseconds until an answer is given up: a server that vanished from the network closes no connection. */
const QUERY_TIMEOUT = 30_000

export type Query = (sql: string, parameters?: unknown[]) => Promise<Row[]>

/** A pool of connections whose errors are those of a store. */
export interface Connection {
  query: Query
  /** A transaction on a connection of its own; READ COMMITTED where nothing else is said. */
  begin(mode?: string): Promise<Transaction>
  /** Commits what was done, or nothing of it if there was an error. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>
  /** Waits for transactions under way. */
  close(): Promise<void>
}

export interface Transaction {
  query: Query
  commit(): Promise<void>
  /** Also where the server can no longer be asked to: it closes the connection. */
  abandon(): void
}

export function connect(url: string, connections: number): Connection {
  const pool = createPool(url, connections)
  const place = placeOf(pool)
  let closed = false

  /** Runs a query; what goes wrong becomes the error of a store. */
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
    async close() {
      const end = pool.end()
      closed = true
      await end
    },
  }
}

const NUL_IN_TEXT = '22021'

/** PostgreSQL's code for what it refused; undefined if it was not the server that spoke. */
export function sqlStateOf(error: unknown): string | undefined {
  const cause = error instanceof StoreError ? error.cause : error
  return cause instanceof pg.DatabaseError ? cause.code : undefined
}

function createPool(url: string, connections: number): pg.Pool {
  try {
    const pool = new pg.Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: CONNECT_TIMEOUT,
      query_timeout: QUERY_TIMEOUT,
      keepAlive: true,
      application_name: 'switchboard',
    })
    // An idle connection that breaks is replaced by the pool; whoever needs one and gets none hears of it.
    pool.on('error', () => {})
    // One in use that breaks between two queries says so twice: to the next query, which fails, and here.
    pool.on('connect', (client) => client.on('error', () => {}))
    placeOf(pool)
    return pool
  } catch {
    // Without a cause: that of a bad URL quotes it, with the password.
    throw new StoreError('unavailable', 'the URL of the PostgreSQL database cannot be read')
  }
}

/** Where the database is, without user and password. */
function placeOf(pool: pg.Pool): string {
  const { host, port, database } = new pg.Client(pool.options)
  return `${host}:${port}/${database}`
}
