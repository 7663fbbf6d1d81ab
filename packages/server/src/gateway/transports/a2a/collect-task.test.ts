import { describe, expect, it, vi } from 'vitest'
import { collectTask } from './collect-task.js'
import { readEvent } from './read-event.js'
import type { A2aReplies, A2aReply } from './send-action.js'

const LIMITS = { maxBytes: 1000, maxValues: 100 }
const event = (value: Parameters<typeof readEvent>[0]): A2aReply => ({ kind: 'event', event: readEvent(value) })
const task = (state: string, artifacts: ReturnType<typeof artifact>[] = []) =>
  event({ kind: 'task', id: 't', contextId: 'c', status: { state }, artifacts })
const status = (state: string) => event({ kind: 'status-update', taskId: 't', status: { state } })
const artifact = (id: string, ...texts: string[]) => ({
  artifactId: id,
  parts: texts.map((text) => ({ kind: 'text', text })),
})
const update = (id: string, text: string, append = false) =>
  event({ kind: 'artifact-update', taskId: 't', artifact: artifact(id, text), append })

/** Collects these replies; returns what was collected, and whether the stream was read to its end. */
async function collect(first: A2aReply, ...others: A2aReply[]) {
  const left = [...others]
  const next = vi.fn(async (): Promise<IteratorResult<A2aReply, void>> => {
    const value = left.shift()
    return value ? { done: false, value } : { done: true, value: undefined }
  })
  const rest: A2aReplies = { kind: 'replies', next, close: () => {} }
  const reply = await collectTask(first, rest, LIMITS)
  if (reply.kind !== 'event' || reply.event.kind !== 'task') return { reply }
  const { state, artifacts } = reply.event
  const texts = artifacts.map(({ items }) => items.map((item) => (item.kind === 'text' ? item.text : '')))
  return { reply, state, texts }
}

describe('collectTask', () => {
  it('appends to artifacts and replaces them, as the agent says', async () => {
    const { state, texts } = await collect(
      task('working'),
      update('a', 'one'),
      update('b', 'old'),
      update('a', 'two', true),
      update('b', 'new'),
      status('completed'),
    )
    expect([state, texts]).toEqual(['completed', [['one', 'two'], ['new']]])
  })

  it('takes the artifacts of a whole task for all that there are', async () => {
    const whole = task('completed', [artifact('a', 'all of it')])
    expect((await collect(task('working'), update('a', 'a part'), update('x', 'draft'), whole)).texts).toEqual([
      ['all of it'],
    ])
  })

  it('returns a message or an error as it is, and a task that is still running at the end of the stream', async () => {
    const message = event({ kind: 'message', role: 'agent', parts: [{ kind: 'text', text: 'hi' }] })
    expect((await collect(message)).reply).toEqual(message)
    const failure: A2aReply = { kind: 'failure', failure: { status: 500, value: {} } }
    expect((await collect(task('working'), failure)).reply).toEqual(failure)
    expect(await collect(update('a', 'one'))).toMatchObject({ state: 'working' })
  })

  it('limits all artifacts together', async () => {
    const long = 'x'.repeat(400)
    const parts = [1, 2, 3].map((n) => update(`${n}`, long))
    await expect(collect(task('working'), ...parts)).rejects.toMatchObject({ code: 'too_large' })
    const many = Array.from({ length: 101 }, () => update('a', '', true))
    await expect(collect(task('working'), ...many)).rejects.toMatchObject({ code: 'too_large' })
    // A task repeats what it had before.
    const repeated = [1, 2, 3].map(() => task('working', [artifact('a', long)]))
    expect((await collect(task('working'), ...repeated, status('completed'))).texts).toEqual([[long]])
  })
})
