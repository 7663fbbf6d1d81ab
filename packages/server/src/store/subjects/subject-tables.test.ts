import { expect, it } from 'vitest'
import { MIGRATIONS as POSTGRES } from '../postgres/migrations.js'
import { MIGRATIONS as SQLITE } from '../sqlite/migrations.js'
import { AUDIT, SUBJECT_TABLES } from './subject-tables.js'

/** Columns that name a subject. */
const NAMES_A_SUBJECT = /^ *(owner|subject|actor|client|agent_owner) /m

it.each([
  ['SQLite', SQLITE],
  ['PostgreSQL', POSTGRES],
])('every table of %s with a column that names a subject can be exported and erased', (_, migrations) => {
  const tables = Array.from(migrations.join('\n').matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+) \(([\s\S]*?)\n {2}\)/gi))
  expect(tables.length).toBeGreaterThan(10)
  const named = tables.flatMap(([, name = '', columns = '']) => (NAMES_A_SUBJECT.test(columns) ? [name] : []))
  const known = new Set([...SUBJECT_TABLES, AUDIT].map(({ table }) => table))
  expect(named.filter((name) => !known.has(name))).toEqual([])
})
