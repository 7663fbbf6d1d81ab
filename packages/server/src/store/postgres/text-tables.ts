import type {
  AcceptedRows,
  FoundRow,
  ModelVectors,
  TermQuery,
  TextContent,
  TextRow,
  TextTables,
} from '@switchboard/search'
import type { Row } from '../rows.js'
import { StoreError } from '../store-error.js'
import type { StoreHealth } from '../store-health.js'
import { type Connection, connect, type Query, sqlStateOf } from './connect.js'
import { failingFast } from './supervise.js'
import { migrateText } from './text-migrations.js'

/** Connections for searches by text, besides those of the store. */
const CONNECTIONS = 6
/** Milliseconds: creating an index on a large table takes a while. */
const MIGRATION_TIMEOUT = 600_000

/**
 * How many vectors a search in the graph keeps; it returns at most as many, and more find more of the nearest. With a
 * filter it goes on until enough have passed.
 */
const SETTINGS = `
  SET jit = off;
  SET statement_timeout = 9500; -- the client waits for 10 s
  SET hnsw.ef_search = 200;
  SET hnsw.iterative_scan = relaxed_order;
  SET hnsw.max_scan_tuples = 40000`

/**
 * Impacts of a term in a text, as the four weights that a tsvector has: the lowest impact, and how much it counts. Terms of
 * the two highest are loud.
 */
const IMPACTS = [
  { label: 'A', least: 0.6, weight: 0.72 },
  { label: 'B', least: 0.45, weight: 0.52 },
  { label: 'C', least: 0.25, weight: 0.34 },
  { label: '', least: 0, weight: 0.17 },
]
const LOUD = 0.45
/** Marks a term that is loud. No term contains it. */
const LOUD_MARK = '!'
/** For ts_rank: the weights of D, C, B and A. */
const WEIGHTS = `'{${IMPACTS.map(({ weight }) => weight)
  .reverse()
  .join(',')}}'`
/** Terms of about the same weight are scored together. */
const MAX_WEIGHTS = 3

/** Errors that the same row would cause again: data exceptions, syntax errors in a value, and values that are too large. */
const INVALID = /^(?:22|42601|54)/

/** Opens the tables of the text index, and creates them if they are missing. */
export async function openTextTables(url: string, health?: StoreHealth): Promise<TextTables> {
  const migrating = connect(url, 1, { queryTimeout: MIGRATION_TIMEOUT })
  try {
    await migrating.transaction(migrateText)
  } finally {
    await migrating.close()
  }
  const connection = connect(url, CONNECTIONS, { settings: SETTINGS })
  return createTextTables(health ? failingFast(connection, health) : connection)
}

function createTextTables(connection: Connection): TextTables {
  const { query } = connection
  let analysedAt = 0

  /** Changes that all count something. What a crash loses is missing from `versions` at the next start. */
  const change = async (work: (query: Query) => Promise<void>): Promise<void> => {
    try {
      await connection.transaction(async (inside) => {
        await inside('SET LOCAL synchronous_commit = off; UPDATE text_index SET generation = generation + 1')
        await work(inside)
      })
    } catch (error) {
      throw INVALID.test(sqlStateOf(error) ?? '') ? new StoreError('invalid', String(error), { cause: error }) : error
    }
  }

  /** The planner chooses an index only if it knows how large a table is. */
  const analyse = async (): Promise<void> => {
    const [row] = await query('SELECT agents FROM text_index')
    const agents = Number(row?.agents)
    if (agents < 2 * analysedAt + 500) return
    analysedAt = agents
    for (const table of ['text_agents', 'text_static', 'text_model', 'text_embedded', 'text_contents'])
      await query(`ANALYZE ${table}`)
  }

  return {
    async versions() {
      const rows = await query('SELECT number, version, format FROM text_agents')
      return new Map(rows.map(({ number, version, format }) => [Number(number), toVersion(version, format)]))
    },
    async put(rows) {
      const numbers = rows.map(({ number }) => number)
      await change(async (inside) => {
        const found = await inside('SELECT number, version, format FROM text_agents WHERE number = ANY ($1)', [numbers])
        const stored = new Map(found.map((row) => [Number(row.number), toVersion(row.version, row.format)]))
        const changed = rows.filter(({ number, version, format }) => {
          const before = stored.get(number)
          return before?.version !== version || before.format !== format
        })
        const replaced = changed.filter(({ number }) => stored.has(number)).map(({ number }) => number)
        if (replaced.length > 0) await inside(REMOVE, [replaced])
        if (changed.length > 0) await inside(INSERT, [JSON.stringify(changed.map(toInput))])
      })
      await analyse()
    },
    remove: (numbers) =>
      change(async (inside) => {
        await inside(REMOVE, [numbers])
        await inside(REMOVE_VECTORS, [numbers])
      }),
    setDimensions: (dimensions, model = '') =>
      change(async (inside) => {
        const [row] = await inside('SELECT dimensions, model FROM text_index')
        if (row?.dimensions === dimensions && row.model === model) return
        await inside(`
          TRUNCATE text_model, text_embedded;
          DROP INDEX IF EXISTS text_model_embedding;
          CREATE INDEX text_model_embedding ON text_model
            USING hnsw ((embedding::halfvec(${Number(dimensions)})) halfvec_cosine_ops);
          UPDATE text_index SET dimensions = ${Number(dimensions)}`)
        await inside('UPDATE text_index SET model = $1', [model])
      }),
    putVectors: (vectors) =>
      change(async (inside) => {
        const changed = await inside(PUT_PACKED, [
          vectors.map(({ number }) => number),
          vectors.map(({ packed }) => Buffer.from(packed)),
        ])
        const numbers = new Set(changed.map(({ number }) => Number(number)))
        const input = vectors.filter(({ number }) => numbers.has(number)).map(toVectorInput)
        if (input.length === 0) return
        await inside('DELETE FROM text_model WHERE number = ANY ($1)', [[...numbers]])
        await inside(INSERT_VECTORS, [JSON.stringify(input)])
      }),
    removeVectors: (numbers) => change(async (inside) => void (await inside(REMOVE_VECTORS, [numbers]))),
    async statistics() {
      const [row] = await query('SELECT * FROM text_index')
      return {
        generation: Number(row?.generation),
        agents: Number(row?.agents),
        publicAgents: Number(row?.public_agents),
        publicLength: Number(row?.public_length),
      }
    },
    async frequencies(terms) {
      const rows = await query('SELECT term, agents, loud FROM text_terms WHERE term = ANY ($1)', [terms])
      return new Map(
        rows.map(({ term, agents, loud }) => [String(term), { agents: Number(agents), loud: Number(loud) }]),
      )
    },
    async byTerms({ any, weighed }, accepted, limit) {
      const parameters = createParameters()
      const selected = parameters.add(anyOf(any.map(({ term, isLoud }) => (isLoud ? term + LOUD_MARK : term))))
      const score = weightGroups(weighed)
        .map(({ weight, terms }) => {
          // ts_rank returns the mean over the terms.
          const total = weight * terms.length
          return `${total.toFixed(6)} * ts_rank(${WEIGHTS}, terms, ${parameters.add(anyOf(terms))}::tsquery)`
        })
        .join(' + ')
      const rows = await query(
        `SELECT number, version, coalesce(stamp, 0) AS stamp FROM (
           SELECT number, version, ${score || '0'} AS score FROM text_agents
           WHERE terms @@ ${selected}::tsquery AND ${parameters.accepted(accepted)}
           ORDER BY score DESC, number LIMIT ${parameters.add(limit)}
         ) found LEFT JOIN text_embedded USING (number)`,
        parameters.values,
      )
      return rows.map(toFound)
    },
    async byVector(kind, codes, accepted, limit) {
      const parameters = createParameters()
      const type = `halfvec(${codes.length})`
      const table = kind === 'static' ? 'text_static' : 'text_model'
      const embedding = kind === 'static' ? 'embedding' : `(embedding::${type})`
      const nearest = `ORDER BY ${embedding} <=> ${parameters.add(`[${codes.join(',')}]`)}::${type} LIMIT ${parameters.add(limit)}`
      const filter = parameters.accepted(accepted)
      // All of a few are compared: the graph might not reach them.
      const numbers =
        accepted && 'few' in accepted
          ? `WITH few AS MATERIALIZED (SELECT number, embedding FROM ${table} WHERE ${filter}) SELECT number FROM few ${nearest}`
          : `SELECT number FROM ${table} WHERE ${filter} ${nearest}`
      const rows = await query(
        `SELECT number, version, coalesce(stamp, 0) AS stamp
         FROM (${numbers}) found JOIN text_agents USING (number) LEFT JOIN text_embedded USING (number)`,
        parameters.values,
      )
      return rows.map(toFound)
    },
    async count(terms, accepted) {
      const parameters = createParameters()
      const [row] = await query(
        `SELECT count(*) AS count FROM text_agents
         WHERE terms @@ ${parameters.add(anyOf(terms))}::tsquery AND ${parameters.accepted(accepted)}`,
        parameters.values,
      )
      return Number(row?.count)
    },
    async matching(terms, accepted) {
      const parameters = createParameters()
      const rows = await query(
        `SELECT number FROM text_agents
         WHERE terms @@ ${parameters.add(anyOf(terms))}::tsquery AND ${parameters.accepted(accepted)}`,
        parameters.values,
      )
      return rows.map(({ number }) => Number(number))
    },
    async found(numbers) {
      const rows = await query(
        `SELECT number, version, coalesce(stamp, 0) AS stamp FROM text_agents LEFT JOIN text_embedded USING (number)
         WHERE number = ANY ($1)`,
        [numbers],
      )
      return rows.map(toFound)
    },
    async contents(numbers) {
      const rows = await query(
        `SELECT number, version, coalesce(stamp, 0) AS stamp, is_public, content, packed
         FROM text_agents JOIN text_contents USING (number) LEFT JOIN text_embedded USING (number)
         WHERE number = ANY ($1)`,
        [numbers],
      )
      return rows.map(toContent)
    },
    async words(limit) {
      const rows = await query('SELECT word, agents FROM text_words ORDER BY agents DESC, word LIMIT $1', [limit])
      return toCounts(rows)
    },
    async wordFrequencies(words) {
      return toCounts(await query('SELECT word, agents FROM text_words WHERE word = ANY ($1)', [words]))
    },
    async termsAmong(numbers, terms) {
      const rows = await query(
        `SELECT term FROM unnest($1::text[], $2::text[]) AS t (term, query)
         WHERE EXISTS (SELECT FROM text_agents WHERE number = ANY ($3) AND terms @@ t.query::tsquery)`,
        [terms, terms.map((term) => anyOf([term])), numbers],
      )
      return new Set(rows.map(({ term }) => String(term)))
    },
    async occurTogether(a, b) {
      if (a.length === 0 || b.length === 0) return false
      const [row] = await query(
        'SELECT EXISTS (SELECT FROM text_agents WHERE is_public AND terms @@ $1::tsquery AND terms @@ $2::tsquery) AS it',
        [anyOf(a), anyOf(b)],
      )
      return row?.it === true
    },
    close: () => connection.close(),
  }
}

const toVersion = (version: unknown, format: unknown): { version: number; format: string } => ({
  version: Number(version),
  format: String(format),
})

const toFound = ({ number, version, stamp }: Row): FoundRow => ({
  number: Number(number),
  version: Number(version),
  stamp: Number(stamp),
})

const toContent = (row: Row): TextContent => ({
  ...toFound(row),
  isPublic: row.is_public === true,
  content: String(row.content),
  packed: row.packed instanceof Uint8Array ? row.packed : undefined,
})

const toCounts = (rows: readonly Row[]): Map<string, number> =>
  new Map(rows.map(({ word, agents }) => [String(word), Number(agents)]))

/** A lexeme in the text of a tsvector or a tsquery. */
const lexeme = (term: string): string => `'${term.replace(/['\\]/g, '$&$&')}'`

const anyOf = (terms: readonly string[]): string =>
  [...new Set(terms)]
    .filter((term) => term !== '')
    .map(lexeme)
    .join(' | ')

const impactLabel = (impact: number): string => IMPACTS.find(({ least }) => impact >= least)?.label ?? ''

function toInput({ terms, vectors, ...row }: TextRow) {
  return {
    ...row,
    terms: terms
      .flatMap(({ term, impact }) => [
        `${lexeme(term)}:1${impactLabel(impact)}`,
        ...(impact >= LOUD ? [lexeme(term + LOUD_MARK)] : []),
      ])
      .join(' '),
    vectors: vectors.map((codes) => `[${codes.join(',')}]`),
  }
}

const toVectorInput = ({ number, codes }: ModelVectors) => ({
  number,
  vectors: codes.map((each) => `[${each.join(',')}]`),
})

/** Groups terms by weight: each group is scored by one call. */
function weightGroups(weighed: TermQuery['weighed']): { weight: number; terms: string[] }[] {
  const sorted = weighed.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight)
  const size = Math.ceil(sorted.length / MAX_WEIGHTS)
  return Array.from({ length: Math.ceil(sorted.length / Math.max(1, size)) }, (_, i) => {
    const group = sorted.slice(i * size, (i + 1) * size)
    return {
      weight: group.reduce((sum, { weight }) => sum + weight, 0) / group.length,
      terms: group.map(({ term }) => term),
    }
  })
}

/** The parameters of a statement that is put together. */
function createParameters() {
  const values: unknown[] = []
  const add = (value: unknown): string => `$${values.push(value)}`
  return {
    values,
    add,
    /** A condition on `number`. */
    accepted(accepted: AcceptedRows): string {
      if (!accepted) return 'true'
      if ('few' in accepted) return `number = ANY (${add(accepted.few)}::bigint[])`
      const { buffer, byteOffset, byteLength } = accepted.bits
      const bits = add(Buffer.from(buffer, byteOffset, byteLength))
      return `CASE WHEN number < ${8 * byteLength} THEN get_bit(${bits}, number) = 1 ELSE false END`
    },
  }
}

/** Terms of agents, without the marked ones, and in how many of them they are loud. */
const termCounts = (agents: string): string => `
  SELECT rtrim(lexeme, '${LOUD_MARK}') AS term, count(*) FILTER (WHERE right(lexeme, 1) <> '${LOUD_MARK}') AS agents,
    count(*) FILTER (WHERE right(lexeme, 1) = '${LOUD_MARK}') AS loud
  FROM ${agents} g, unnest(tsvector_to_array(g.terms)) AS lexeme WHERE g.is_public GROUP BY 1`

const wordCounts = (agents: string): string => `
  SELECT word, count(*) AS agents FROM ${agents} g, unnest(g.words) AS word WHERE g.is_public GROUP BY 1`

/** The model's vectors stay. Counts that become 0 are deleted: they may be words of somebody who has left. */
const REMOVE = `
  WITH gone AS (DELETE FROM text_agents WHERE number = ANY ($1) RETURNING number, is_public, length, terms),
    contents AS (DELETE FROM text_contents WHERE number = ANY ($1) RETURNING number, words),
    texts AS (SELECT is_public, words FROM gone JOIN contents USING (number)),
    statics AS (DELETE FROM text_static WHERE number = ANY ($1)),
    counts AS MATERIALIZED (${termCounts('gone')}),
    fewer AS (UPDATE text_terms t SET agents = t.agents - c.agents, loud = t.loud - c.loud FROM counts c
      WHERE t.term = c.term AND t.agents > c.agents),
    none AS (DELETE FROM text_terms t USING counts c WHERE t.term = c.term AND t.agents <= c.agents),
    words AS MATERIALIZED (${wordCounts('texts')}),
    fewer_words AS (UPDATE text_words t SET agents = t.agents - w.agents FROM words w
      WHERE t.word = w.word AND t.agents > w.agents),
    no_words AS (DELETE FROM text_words t USING words w WHERE t.word = w.word AND t.agents <= w.agents)
  UPDATE text_index SET agents = agents - (SELECT count(*) FROM gone),
    public_agents = public_agents - (SELECT count(*) FROM gone WHERE is_public),
    public_length = public_length - (SELECT coalesce(sum(length), 0) FROM gone WHERE is_public)`

const INSERT = `
  WITH input AS MATERIALIZED (
      SELECT number, version, format, "isPublic" AS is_public, length, terms::tsvector AS terms, words, content, vectors
      FROM json_to_recordset($1::json) AS r (number bigint, version float8, format text, "isPublic" boolean, length float8, terms text,
        words text[], content text, vectors text[])
    ),
    added AS (INSERT INTO text_agents SELECT number, version, format, is_public, length, terms FROM input),
    contents AS (INSERT INTO text_contents SELECT number, words, content FROM input),
    statics AS (INSERT INTO text_static SELECT number, part - 1, vector::halfvec(128)
      FROM input, unnest(vectors) WITH ORDINALITY AS v (vector, part)
      WHERE vector ~ '[1-9]'), -- a text without a known word is similar to nothing
    counts AS (INSERT INTO text_terms AS t ${termCounts('input')} ORDER BY 1
      ON CONFLICT (term) DO UPDATE SET agents = t.agents + excluded.agents, loud = t.loud + excluded.loud),
    word_counts AS (INSERT INTO text_words AS t ${wordCounts('input')} ORDER BY 1
      ON CONFLICT (word) DO UPDATE SET agents = t.agents + excluded.agents)
  UPDATE text_index SET agents = agents + (SELECT count(*) FROM input),
    public_agents = public_agents + (SELECT count(*) FROM input WHERE is_public),
    public_length = public_length + (SELECT coalesce(sum(length), 0) FROM input WHERE is_public)`

const REMOVE_VECTORS = `
  WITH vectors AS (DELETE FROM text_model WHERE number = ANY ($1))
  DELETE FROM text_embedded WHERE number = ANY ($1)`

/** Returns those that are new or differ. An agent whose text is put later may have vectors already. */
const PUT_PACKED = `
  INSERT INTO text_embedded AS e (number, stamp, packed)
  SELECT v.number, nextval('text_stamps'), v.packed
  FROM unnest($1::bigint[], $2::bytea[]) AS v (number, packed)
  ON CONFLICT (number) DO UPDATE SET stamp = excluded.stamp, packed = excluded.packed
  WHERE e.packed <> excluded.packed
  RETURNING number`

const INSERT_VECTORS = `
  INSERT INTO text_model (number, part, embedding)
  SELECT number, part - 1, vector::halfvec
  FROM json_to_recordset($1::json) AS r (number bigint, vectors text[]),
    unnest(vectors) WITH ORDINALITY AS v (vector, part)
  WHERE vector ~ '[1-9]'`
