import { once } from 'node:events'
import { request } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { ADMIN_KEY } from './processes.mjs'

/**
 * Registers documents through the bulk import that operators use; one that is refused ends the run.
 * @returns {Promise<number>} agents a second
 */
export async function importAgents(port, documents) {
  const started = performance.now()
  const post = request({
    port,
    method: 'POST',
    path: '/admin/import',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/x-ndjson' },
  })
  // Results come while documents still go: who does not read them would in the end not be read either.
  const answered = once(post, 'response').then(([response]) => readText(response))
  for (let i = 0; i < documents.length; i += 200) {
    const lines = documents.slice(i, i + 200).map((document) => `${JSON.stringify(document)}\n`)
    if (!post.write(lines.join(''))) await once(post, 'drain')
  }
  post.end()
  const text = await answered
  const seconds = (performance.now() - started) / 1000
  const refused = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ status }) => status !== 'created')
  if (refused.length > 0)
    throw new Error(`${refused.length} agents were refused, such as ${JSON.stringify(refused[0])}`)
  return documents.length / seconds
}
