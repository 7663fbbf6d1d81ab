import { once } from 'node:events'
import { request } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { ADMIN_KEY } from './processes.mjs'

/** Documents in one write. */
const BATCH = 200

/**
 * Registers documents through the bulk import of the admin API; throws if any is rejected.
 * @param {number} port
 * @param {Iterable<object>} documents
 * @returns {Promise<number>} agents per second
 */
export async function importAgents(port, documents) {
  const started = performance.now()
  const post = request({
    port,
    method: 'POST',
    path: '/admin/import',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/x-ndjson' },
  })
  // Results arrive while documents are still being sent; not reading them would block the upload.
  const answered = once(post, 'response').then(([response]) => readText(response))
  let sent = 0
  let lines = ''
  for (const document of documents) {
    lines += `${JSON.stringify(document)}\n`
    if (++sent % BATCH > 0) continue
    if (!post.write(lines)) await once(post, 'drain')
    lines = ''
  }
  post.end(lines)
  const text = await answered
  const seconds = (performance.now() - started) / 1000
  const rejected = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ status }) => status !== 'created')
  if (rejected.length > 0)
    throw new Error(`${rejected.length} agents were rejected, for example ${JSON.stringify(rejected[0])}`)
  return sent / seconds
}
