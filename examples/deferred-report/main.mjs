// A report that takes a while: the agent promises it (202), is asked how it is doing, and gives it when it is ready. The
// client does all of that in one call, and one that is not wanted any more is cancelled.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { createAgent } from '@switchboard/agent'
import { invokeAgent } from '@switchboard/client'

/** The signals of the reports that were begun, by their years: a signal ends when its report is cancelled. */
const begun = new Map()

const reporter = createAgent({
  name: 'reporter',
  version: '1.0.0',
  description: 'Writes the report of a year.',
  capabilities: [
    {
      name: 'report',
      input: { year: 'integer', takesMs: 'integer' },
      output: { title: 'string', pages: 'integer' },
      deferred: true,
      async handler({ year, takesMs }, { signal }) {
        begun.set(year, signal)
        await pause(takesMs, undefined, { signal })
        return { title: `Report of ${year}`, pages: 12 }
      },
    },
  ],
})

const { url } = await reporter.listen()

/** Asks for a report in plain HTTP; the address of the task. */
async function order(input) {
  const response = await fetch(`${url}/report`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  assert.equal(response.status, 202)
  return new URL(response.headers.get('location'), url)
}

const ask = async (task, method = 'GET') => (await fetch(task, { method })).json()

try {
  const task = await order({ year: 2023, takesMs: 300 })
  let state = await ask(task)
  assert.equal(state.status, 'running')
  console.log(`2023: ${task.pathname} is ${state.status}`)
  while (state.status === 'running') {
    await pause(100)
    state = await ask(task)
  }
  assert.equal(state.status, 'completed')
  assert.deepEqual(state.result, { title: 'Report of 2023', pages: 12 })
  console.log(`2023: "${state.result.title}", ${state.result.pages} pages`)

  const uri = `agent://${new URL(url).host}/report`
  const reply = await invokeAgent(uri, { year: 2024, takesMs: 100 }, { httpLoopback: true })
  assert.deepEqual(reply.output, { title: 'Report of 2024', pages: 12 })
  console.log(`2024: "${reply.output.title}", with one call of the client`)

  const unwanted = await order({ year: 2025, takesMs: 600_000 })
  assert.equal((await ask(unwanted, 'DELETE')).status, 'cancelled')
  assert.equal(begun.get(2025).aborted, true)
  assert.equal((await ask(unwanted)).status, 'cancelled')
  console.log('2025: cancelled with DELETE')

  const leaving = new AbortController()
  const options = { httpLoopback: true, signal: leaving.signal }
  const given = invokeAgent(uri, { year: 2026, takesMs: 600_000 }, options)
  while (!begun.has(2026)) await pause(20)
  await pause(300) // by now the client knows the task, and asks for it from time to time
  leaving.abort()
  await assert.rejects(given, { code: 'aborted' })
  if (!begun.get(2026).aborted) await once(begun.get(2026), 'abort')
  console.log('2026: the caller gave up, and the agent stopped')
} finally {
  await reporter.close()
}
