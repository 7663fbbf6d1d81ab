// Writes to the store in the folder until it is killed, and prints each durable write: node storm.mjs <folder>
import { writeSync } from 'node:fs'
import { openSqliteStore } from '../../dist/store/sqlite/open-sqlite-store.js'

const store = await openSqliteStore(process.argv[2])
writeSync(1, 'open\n')

async function write(writer) {
  for (let i = 0; ; i++) {
    const id = `w${writer}-${i}`
    const audit = { at: i, actor: 'storm', action: 'register', outcome: 'ok', agent: id }
    const put = { kind: 'put', id, owner: 'storm', format: 'mcp', marks: {}, at: i, received: true, audit }
    const document = { id, padding: 'x'.repeat(2000) }
    const { agent } = await store.write({ ...put, document, lease: { seconds: i, expiresAt: i } })
    // One system call for each line, so that a kill does not cut it in half.
    writeSync(1, `${id} ${agent.number}\n`)
  }
}
await Promise.all(Array.from({ length: 32 }, (_, writer) => write(writer)))
