import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DirectoryError, type JsonObject } from '@switchboard/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Caller } from '../src/policy/caller.js'
import { createSeal } from '../src/services/identity/seal.js'
import type { Agent, Catalog } from '../src/services/registry/catalog.js'
import type { Delivery } from '../src/services/tasks/callback.js'
import { createTasks, type NewTask, type TaskRunner, type TaskStep, type Tasks } from '../src/services/tasks/tasks.js'
import { openSqliteStore } from '../src/store/sqlite/open-sqlite-store.js'
import type { Store } from '../src/store/store.js'
import { put, remove, stored } from './store/fixtures.js'
import { testCatalog } from './support/catalog.js'
import { aidipAgent } from './support/documents.js'

const QUICK = { holdMs: 60_000, renewMs: 20, backoffMs: 5, saveMs: 5, closeMs: 100 }
const carol = caller('carol')

function caller(subject: string): Caller {
  return { subject, kind: 'key', scopes: new Set(['invoke']), address: '127.0.0.1', requestId: 'r' }
}

const done = (body: JsonObject = { ok: true }): TaskStep => ({ kind: 'done', result: { status: 200, body } })
const never = (signal: AbortSignal) =>
  new Promise<TaskStep>((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))

describe('the worker of deferred calls', () => {
  let folder: string
  let store: Store
  let catalog: Catalog
  let agent: Agent
  let ahead: number
  const processes: Tasks[] = []
  const errors: unknown[] = []

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-tasks-'))
    store = await openSqliteStore(folder)
    ahead = 0
    catalog = testCatalog(store)
    agent = catalog.apply(await stored(store.write(put('a', { document: aidipAgent({ id: 'a' }) }))))
  })
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((tasks) => tasks.close()))
    await store.close()
    rmSync(folder, { recursive: true })
    expect(errors.splice(0)).toEqual([])
  })

  /** A process that works on tasks; several share the store. */
  const startProcess = (
    runner: Partial<TaskRunner>,
    options: { callBack?: () => Promise<Delivery>; secret?: string; timing?: typeof QUICK } = {},
  ): Tasks => {
    const { callBack = async () => 'delivered', secret = 'the secret of the tests', timing = QUICK } = options
    const tasks = createTasks({
      context: { store, catalog, now: () => Date.now() + ahead, newId: randomUUID },
      seal: createSeal(secret),
      callBack,
      checkAddress: () => {},
      onError: (error) => errors.push(error),
      timing,
    })
    processes.push(tasks)
    tasks.start({ run: async () => done(), poll: async () => done(), cancel: async () => {}, ...runner })
    return tasks
  }

  const newTask = (changes: Partial<NewTask> = {}): NewTask => ({
    agent,
    operation: 'invoke',
    request: { input: 'secret input' },
    idempotent: false,
    ...changes,
  })

  const statusOf = async (tasks: Tasks, id: string): Promise<JsonObject> => (await tasks.read(id, carol)).document
  const until = (tasks: Tasks, id: string, expected: JsonObject) =>
    vi.waitFor(async () => expect(await statusOf(tasks, id)).toMatchObject(expected), { timeout: 5000, interval: 10 })

  it('sends the call once and stores its result', async () => {
    const run = vi.fn(async () => done({ text: 'bonjour' }))
    const tasks = startProcess({ run })
    const { id, status } = await tasks.create(newTask(), carol)
    expect(status).toBe('pending')
    await until(tasks, id, { status: 'completed', result: { text: 'bonjour' }, httpStatus: 200 })
    expect(run).toHaveBeenCalledExactlyOnceWith({ input: 'secret input' }, expect.any(AbortSignal))
  })

  it('stores the request encrypted', async () => {
    const tasks = startProcess({})
    const { id } = await tasks.create(newTask({ callbackUrl: 'https://hooks.example/token-in-it' }), carol)
    const { request } = (await store.tasks.get(id)) ?? expect.fail()
    for (const text of [request, Buffer.from(request.slice(2), 'base64url').toString('latin1')]) {
      expect(text).not.toMatch(/secret input|token-in-it/)
    }
  })

  it('stores the error of the agent or of the directory', async () => {
    const body = { error: { code: 'NoSuchLanguage', message: 'never heard of it' } }
    const refused = startProcess({ run: async () => ({ kind: 'done', result: { status: 422, body } }) })
    const one = await refused.create(newTask(), carol)
    await until(refused, one.id, { status: 'failed', httpStatus: 422, error: body.error })
    const failing = startProcess({
      run: async () => {
        throw new DirectoryError('timeout', 'no answer within 5 s')
      },
    })
    const two = await failing.create(newTask(), carol)
    await until(failing, two.id, { status: 'failed', httpStatus: 504, error: { code: 'Timeout' } })
  })

  it('fails if the result is too large to store', async () => {
    const tasks = startProcess({ run: async () => done({ text: 'x'.repeat(1024 * 1024) }) })
    const { id } = await tasks.create(newTask(), carol)
    await until(tasks, id, { status: 'failed', error: { code: 'PayloadTooLarge' } })
  })

  it('retries if the agent was too busy to start', async () => {
    let calls = 0
    const tasks = startProcess({ run: async () => (++calls === 1 ? { kind: 'later', retryAfter: 1 } : done()) })
    const { id } = await tasks.create(newTask(), carol)
    await until(tasks, id, { status: 'pending' })
    await until(tasks, id, { status: 'completed' })
    expect(calls).toBe(2)
  })

  it('polls an agent that has accepted the work until it ends, and tolerates some failed polls', async () => {
    const task = { id: 'at-the-agent', status: 'working', pollInterval: 1 }
    let polls = 0
    const poll = vi.fn(async (): Promise<TaskStep> => {
      if (++polls === 1) throw new DirectoryError('agent_error', 'not now')
      return done({ polls })
    })
    const tasks = startProcess({ run: async () => ({ kind: 'working', task }), poll })
    const { id } = await tasks.create(newTask(), carol)
    await until(tasks, id, { status: 'running', pollInterval: 1 })
    await until(tasks, id, { status: 'completed', result: { polls: 2 } })
    expect(poll).toHaveBeenCalledWith({ input: 'secret input' }, task, expect.any(AbortSignal))
  })

  it('does not call a different agent that has been registered under the same name', async () => {
    const run = vi.fn(async () => done())
    const tasks = startProcess({ run })
    await store.write(remove(agent.stored))
    catalog.drop('a', agent.stored.revision)
    catalog.apply(await stored(store.write(put('a', { owner: 'bob', document: aidipAgent({ id: 'a' }) }))))
    const { id } = await tasks.create(newTask(), carol)
    await until(tasks, id, { status: 'failed', error: { code: 'NotFound' } })
    expect(run).not.toHaveBeenCalled()
  })

  it('fails a task that takes longer than a day', async () => {
    const task = { id: 'x', status: 'working', pollInterval: 1 }
    const tasks = startProcess({ poll: async () => ({ kind: 'working', task }) })
    const { id } = await tasks.create(newTask({ agentTask: task }), carol)
    ahead = 86_400_000 - 500
    await until(tasks, id, { status: 'running' })
    await vi.waitFor(async () => expect(await store.tasks.get(id)).toMatchObject({ status: 'failed' }), 5000)
    // Nobody waits for the result any more.
    await until(tasks, id, { error: { code: 'Timeout' }, cancellation: { state: 'confirmed', attempts: 1 } })
  })

  it('allows a subject at most a hundred unfinished tasks', async () => {
    const tasks = startProcess({ run: (_request, signal) => never(signal) })
    for (let i = 0; i < 100; i++) await tasks.create(newTask(), carol)
    await expect(tasks.create(newTask(), carol)).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 10 })
    await tasks.create(newTask(), caller('dave'))
  })

  describe('when a task is cancelled', () => {
    it('stops the call, whichever process has sent it', async () => {
      let stopped = false
      const maker = startProcess({
        run: async (_request, signal) => {
          signal.addEventListener('abort', () => {
            stopped = true
          })
          return never(signal)
        },
      })
      const { id } = await maker.create(newTask(), carol)
      await until(maker, id, { status: 'running' })
      const other = startProcess({})
      expect(await other.cancel(id, carol)).toMatchObject({ status: 'cancelled' })
      await vi.waitFor(() => expect(stopped).toBe(true))
      expect(await statusOf(maker, id)).toMatchObject({ status: 'cancelled' })
    })

    it('cancels the agent’s own task', async () => {
      const task = { id: 'x', status: 'working', pollInterval: 60 }
      const cancel = vi.fn(async () => {})
      const tasks = startProcess({ poll: async () => ({ kind: 'working', task }), cancel })
      const { id } = await tasks.create(newTask({ agentTask: task }), carol)
      await tasks.cancel(id, carol)
      await until(tasks, id, { cancellation: { state: 'confirmed', attempts: 1 } })
      expect(cancel).toHaveBeenCalledExactlyOnceWith({ input: 'secret input' }, task, expect.any(AbortSignal))
    })

    it('asks the agent again while it cannot be reached, and says so', async () => {
      const task = { id: 'x', status: 'working', pollInterval: 60 }
      let attempts = 0
      const cancel = async () => {
        if (++attempts < 3) throw new DirectoryError('agent_error', 'not reached')
      }
      const tasks = startProcess({ cancel })
      const { id } = await tasks.create(newTask({ agentTask: task }), carol)
      expect((await tasks.cancel(id, carol)).document).toMatchObject({
        cancellation: { state: 'waiting', attempts: 0 },
      })
      await until(tasks, id, { status: 'cancelled', cancellation: { state: 'confirmed', attempts: 3 } })
      // The request, which may contain a credential, is deleted.
      expect(await store.tasks.get(id)).toMatchObject({ request: '' })
    })

    it.each([
      ['failed', 5, new DirectoryError('agent_error', 'not reached')],
      ['refused', 1, new DirectoryError('not_invocable', 'it goes on')],
      ['failed', 1, new DirectoryError('not_found', 'the agent has been removed')],
    ] as const)('says that telling the agent has %s after %i attempts', async (state, attempts, error) => {
      const task = { id: 'x', status: 'working', pollInterval: 60 }
      const tasks = startProcess({ cancel: () => Promise.reject(error) })
      const { id } = await tasks.create(newTask({ agentTask: task }), carol)
      await tasks.cancel(id, carol)
      await until(tasks, id, { status: 'cancelled', cancellation: { state, attempts } })
      expect(await store.tasks.get(id)).not.toHaveProperty('work')
    })

    it('tells the agent first and the webhook then', async () => {
      const order: string[] = []
      const cancel = async () => {
        order.push('agent')
      }
      const callBack = async (): Promise<Delivery> => {
        order.push('webhook')
        return 'delivered'
      }
      const tasks = startProcess({ cancel }, { callBack })
      const agentTask = { id: 'x', status: 'working', pollInterval: 60 }
      const callbackUrl = 'https://hooks.example/done'
      const { id } = await tasks.create(newTask({ agentTask, callbackUrl }), carol)
      await tasks.cancel(id, carol)
      await until(tasks, id, { cancellation: { state: 'confirmed' }, callback: { state: 'delivered', attempts: 1 } })
      expect(order).toEqual(['agent', 'webhook'])
    })

    it('cancels a task that the agent accepts after another process has cancelled the call', async () => {
      const task = { id: 'late', status: 'working', pollInterval: 60 }
      let accept = (_step: TaskStep): void => {}
      const run = () =>
        new Promise<TaskStep>((resolve) => {
          accept = resolve
        })
      const cancel = vi.fn(async () => {})
      const sender = startProcess({ run, cancel }, { timing: { ...QUICK, renewMs: 1e6 } })
      const { id } = await sender.create(newTask(), carol)
      await until(sender, id, { status: 'running' })
      const other = startProcess({})
      expect((await other.cancel(id, carol)).document).toMatchObject({ cancellation: { state: 'stopped' } })
      accept({ kind: 'working', task })
      await vi.waitFor(() =>
        expect(cancel).toHaveBeenCalledExactlyOnceWith({ input: 'secret input' }, task, expect.any(AbortSignal)),
      )
      expect(await statusOf(sender, id)).toMatchObject({ status: 'cancelled' })
    })

    it('is not told anything if nothing was sent', async () => {
      const cancel = vi.fn(async () => {})
      const tasks = startProcess({ run: async () => ({ kind: 'later', retryAfter: 60 }), cancel })
      const { id } = await tasks.create(newTask(), carol)
      await vi.waitFor(async () => expect(await store.tasks.get(id)).toMatchObject({ version: 3 }))
      expect((await tasks.cancel(id, carol)).document).not.toHaveProperty('cancellation')
      expect(cancel).not.toHaveBeenCalled()
    })

    it('changes nothing if the task had already ended', async () => {
      const tasks = startProcess({})
      const { id } = await tasks.create(newTask(), carol)
      await until(tasks, id, { status: 'completed' })
      expect(await tasks.cancel(id, carol)).toMatchObject({ status: 'completed' })
    })
  })

  describe('after a process has crashed', () => {
    /** A process that starts a call and crashes. */
    const hang = () => new Promise<TaskStep>(() => {})
    const startAndCrash = async (changes: Partial<NewTask>): Promise<string> => {
      const tasks = startProcess({ run: hang, poll: hang }, { timing: { ...QUICK, renewMs: 1e6 } })
      const { id } = await tasks.create(newTask(changes), carol)
      if (!changes.agentTask) await until(tasks, id, { status: 'running' })
      processes.splice(processes.indexOf(tasks), 1)
      ahead += QUICK.holdMs + 1000
      return id
    }

    it('repeats an idempotent call', async () => {
      const id = await startAndCrash({ idempotent: true })
      await until(startProcess({}), id, { status: 'completed' })
    })

    it('fails a call that is not idempotent as interrupted', async () => {
      const id = await startAndCrash({ idempotent: false })
      const run = vi.fn(async () => done())
      const tasks = startProcess({ run })
      await until(tasks, id, { status: 'failed', error: { code: 'Interrupted' } })
      expect(String(JSON.stringify(await statusOf(tasks, id)))).toContain('may or may not have been carried out')
      expect(run).not.toHaveBeenCalled()
    })

    it('continues to poll an agent that has accepted the work', async () => {
      const id = await startAndCrash({ agentTask: { id: 'x', status: 'working' } })
      const poll = vi.fn(async () => done({ late: true }))
      await until(startProcess({ poll }), id, { status: 'completed', result: { late: true } })
    })

    it('fails tasks that were encrypted with a different secret', async () => {
      const id = await startAndCrash({ idempotent: true })
      await until(startProcess({}, { secret: 'another secret of tests' }), id, { error: { code: 'Interrupted' } })
    })

    it('tells the agent to stop if the first process could not', async () => {
      const hanging = startProcess({ cancel: () => new Promise(() => {}) }, { timing: { ...QUICK, renewMs: 1e6 } })
      const agentTask = { id: 'x', status: 'working', pollInterval: 60 }
      const { id } = await hanging.create(newTask({ agentTask }), carol)
      await hanging.cancel(id, carol)
      processes.splice(processes.indexOf(hanging), 1)
      ahead += QUICK.holdMs + 1000
      const cancel = vi.fn(async () => {})
      await until(startProcess({ cancel }), id, { status: 'cancelled', cancellation: { state: 'confirmed' } })
      expect(cancel).toHaveBeenCalledTimes(1)
    })

    it('does not touch tasks that another process holds', async () => {
      const holding = startProcess({ run: (_request, signal) => never(signal) })
      const { id } = await holding.create(newTask({ idempotent: true }), carol)
      const run = vi.fn(async () => done())
      const other = startProcess({ run })
      await until(other, id, { status: 'running' })
      await new Promise((resolve) => setTimeout(resolve, 5 * QUICK.renewMs))
      expect(run).not.toHaveBeenCalled()
    })
  })

  describe('when the directory stops', () => {
    it('waits for calls that end soon', async () => {
      const tasks = startProcess({ run: () => new Promise((resolve) => setTimeout(() => resolve(done()), 50)) })
      const { id } = await tasks.create(newTask(), carol)
      await until(tasks, id, { status: 'running' })
      await tasks.close()
      expect(await statusOf(tasks, id)).toMatchObject({ status: 'completed' })
    })

    it('interrupts other calls and leaves idempotent ones to the next start', async () => {
      const tasks = startProcess({ run: (_request, signal) => never(signal) })
      const ids: string[] = []
      for (const idempotent of [true, false]) ids.push((await tasks.create(newTask({ idempotent }), carol)).id)
      for (const id of ids) await until(tasks, id, { status: 'running' })
      await tasks.close()
      const [again = '', lost = ''] = ids
      expect(await statusOf(tasks, lost)).toMatchObject({ status: 'failed', error: { code: 'Interrupted' } })
      await until(startProcess({}), again, { status: 'completed' })
    })
  })

  describe('with a webhook', () => {
    const callbackUrl = 'https://hooks.example/done'

    it('notifies it until an attempt succeeds', async () => {
      let attempts = 0
      const callBack = async (): Promise<Delivery> => (++attempts < 3 ? 'retry' : 'delivered')
      const tasks = startProcess({}, { callBack })
      const { id } = await tasks.create(newTask({ callbackUrl }), carol)
      await until(tasks, id, { status: 'completed', callback: { state: 'delivered', attempts: 3 } })
      expect(attempts).toBe(3)
      expect(await store.tasks.get(id)).not.toHaveProperty('work')
    })

    it('gives up after eight attempts, or at once after a permanent failure', async () => {
      const failing = startProcess({}, { callBack: async () => 'retry' })
      const one = await failing.create(newTask({ callbackUrl }), carol)
      await until(failing, one.id, { callback: { state: 'failed', attempts: 8 } })
      const closed = startProcess({}, { callBack: async () => 'failed' })
      const two = await closed.create(newTask({ callbackUrl }), carol)
      await until(closed, two.id, { callback: { state: 'failed', attempts: 1 } })
    })

    it('is notified by another process if the first has crashed', async () => {
      const first = startProcess({}, { callBack: () => new Promise(() => {}), timing: { ...QUICK, renewMs: 1e6 } })
      const { id } = await first.create(newTask({ callbackUrl }), carol)
      await until(first, id, { status: 'completed', callback: { state: 'waiting' } })
      processes.splice(processes.indexOf(first), 1)
      ahead += QUICK.holdMs + 1000
      await until(startProcess({}), id, { callback: { state: 'delivered' } })
    })
  })
})
