// A report that takes a while: the agent accepts the task (202), the caller polls it and fetches the result when it is
// ready. The client does all of that in one call. A report that is no longer needed is cancelled.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { createAgent } from '@switchboard/agent'
import { invokeAgent } from '@switchboard/client'

interface Report {
  readonly title: string
  readonly pages: number
}

interface TaskState {
  readonly status: string
  readonly result?: Report
}

/** The signals of the reports in progress, by year; a signal aborts when its report is cancelled. */
const signals = new Map<number, AbortSignal>()

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
        signals.set(year, signal)
        await pause(takesMs, undefined, { signal })
        return { title: `Report of ${year}`, pages: 12 }
      },
    },
  ],
})

const { url = '' } = await reporter.listen()

/** Orders a report over plain HTTP and returns the address of its task. */
async function order(input: { year: number; takesMs: number }): Promise<URL> {
  const response = await fetch(`${url}/report`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  assert.equal(response.status, 202)
  return new URL(response.headers.get('location') ?? '', url)
}

const poll = async (task: URL, method = 'GET'): Promise<TaskState> =>
  JSON.parse(await (await fetch(task, { method })).text())

try {
  const task = await order({ year: 2023, takesMs: 2000 })
  let state = await poll(task)
  assert.equal(state.status, 'running')
  console.log(`2023: ${task.pathname} is ${state.status}`)
  while (state.status === 'running') {
    await pause(100)
    state = await poll(task)
  }
  assert.equal(state.status, 'completed')
  assert.deepEqual(state.result, { title: 'Report of 2023', pages: 12 })
  console.log(`2023: "${state.result.title}", ${state.result.pages} pages`)

  const uri = `agent://${new URL(url).host}/report`
  const reply = await invokeAgent<Report>(uri, { year: 2024, takesMs: 100 }, { httpLoopback: true })
  assert.deepEqual(reply.output, { title: 'Report of 2024', pages: 12 })
  console.log(`2024: "${reply.output.title}", with one call of the client`)

  const unwanted = await order({ year: 2025, takesMs: 600_000 })
  assert.equal((await poll(unwanted, 'DELETE')).status, 'cancelled')
  assert.equal(signals.get(2025)?.aborted, true)
  assert.equal((await poll(unwanted)).status, 'cancelled')
  console.log('2025: cancelled with DELETE')

  const leaving = new AbortController()
  const options = { httpLoopback: true, signal: leaving.signal }
  const pending = invokeAgent(uri, { year: 2026, takesMs: 600_000 }, options)
  while (!signals.has(2026)) await pause(20)
  await pause(300) // by now the client knows the task and polls it
  leaving.abort()
  await assert.rejects(pending, { code: 'aborted' })
  const signal = signals.get(2026)
  assert.ok(signal)
  if (!signal.aborted) await once(signal, 'abort')
  console.log('2026: the caller gave up, and the agent stopped')
} finally {
  await reporter.close()
}
