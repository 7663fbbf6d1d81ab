// Sequential durable writes: each INSERT is its own transaction, synced to disk.
// node bare-sqlite.mjs DATABASE FILE, started by fork, with a file {"documents": [...]}; send it {seconds}.
import { readFileSync } from 'node:fs'
import { Database } from './server-modules.mjs'

const [database, file] = process.argv.slice(2)
const { documents } = JSON.parse(readFileSync(file, 'utf8'))
const texts = documents.map((document) => JSON.stringify(document))
const db = new Database(database)
db.exec('PRAGMA journal_mode = WAL')
db.exec('PRAGMA synchronous = FULL')
db.exec(`CREATE TABLE IF NOT EXISTS agents (
  number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, document TEXT NOT NULL)`)
const insert = db.prepare('INSERT INTO agents (id, document) VALUES (?, ?)')
let next = 0

process.on('message', ({ seconds }) => {
  const started = performance.now()
  const until = started + seconds * 1000
  const first = next
  let now = started
  while (now < until) {
    insert.run([`bench-${process.pid}-${String(next).padStart(8, '0')}`, texts[next % texts.length]])
    next++
    now = performance.now()
  }
  process.send({ perSecond: (next - first) / ((now - started) / 1000) })
})
