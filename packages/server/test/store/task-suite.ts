import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/store.js'
import type { StoredTask } from '../../src/store/task-store.js'
import { AT } from './fixtures.js'

export const task = (id: string, changes: Partial<StoredTask> = {}): StoredTask => ({
  id,
  version: 1,
  owner: 'carol',
  agent: { id: 'a', number: 7 },
  operation: 'translate',
  status: 'pending',
  work: 'run',
  request: 'c2VhbGVk',
  idempotent: false,
  holder: 'p1',
  heldUntil: AT + 1000,
  createdAt: AT,
  updatedAt: AT,
  expiresAt: AT + 10_000,
  ...changes,
})

const LIMITS = { open: 3, count: 2, bytes: 1000 }

/** Tests of deferred calls that every store must pass. */
export function describeTasks(store: () => Store): void {
  describe('tasks', () => {
    const create = (id: string, changes: Partial<StoredTask> = {}) => store().tasks.create(task(id, changes), LIMITS)

    it('are returned as stored', async () => {
      const full = task('t1', {
        session: 's',
        idempotent: true,
        agentTask: '{"id":"x"}',
        answer: '{"a":"\\u0000"}',
        callback: { state: 'waiting', attempts: 2 },
      })
      expect(await store().tasks.create(full, LIMITS)).toBe(true)
      expect(await store().tasks.get('t1')).toEqual(full)
      await create('t2')
      expect(await store().tasks.get('t2')).toEqual(task('t2'))
      expect(await store().tasks.get('t3')).toBeUndefined()
      expect(await store().tasks.get('t\0')).toBeUndefined()
    })

    it('are listed by their owner, those that changed last first, without what was sent and what came back', async () => {
      await create('t1')
      await create('t2', { updatedAt: AT + 5, answer: '{"a":1}', status: 'completed' })
      await create('t3', { owner: 'dave' })
      const listed = await store().tasks.list('carol', 10)
      expect(listed.map(({ id, status }) => [id, status])).toEqual([
        ['t2', 'completed'],
        ['t1', 'pending'],
      ])
      for (const each of listed) expect(each).not.toHaveProperty('request')
      for (const each of listed) expect(each).not.toHaveProperty('answer')
      expect(await store().tasks.list('carol', 1)).toHaveLength(1)
      expect(await store().tasks.list('c\0', 10)).toEqual([])
    })

    it('are rejected if their owner has too many unfinished ones', async () => {
      for (const id of ['1', '2', '3']) expect(await create(id)).toBe(true)
      expect(await create('4')).toBe(false)
      expect(await create('5', { owner: 'dave' })).toBe(true)
      const { work: _work, ...done } = task('1', { status: 'completed' })
      expect(await store().tasks.update(done)).toBe(true)
      expect(await create('4')).toBe(true)
    })

    it('keep their request, which may contain a credential, only as long as something is left to do', async () => {
      await create('t1')
      await store().tasks.update(task('t1', { status: 'completed', work: 'notify', request: '' }))
      expect(await store().tasks.get('t1')).toMatchObject({ request: 'c2VhbGVk' })
      const { work: _work, ...done } = task('t1', { status: 'completed', version: 2 })
      await store().tasks.update(done)
      expect(await store().tasks.get('t1')).toMatchObject({ request: '' })
    })

    it('that have ended are trimmed to the bytes that their owner may have; the newest stays', async () => {
      const answers = { '1': 600, '2': 300, '3': 200, '4': 5000 }
      for (const [id, bytes] of Object.entries(answers)) {
        const { work: _work, ...done } = task(id, { status: 'completed', answer: 'ä'.repeat(bytes / 2) })
        await store().tasks.create({ ...done, updatedAt: AT + Number(id) }, { open: 3, count: 10, bytes: 1e6 })
      }
      await create('5')
      const trim = async (bytes: number): Promise<string[]> => {
        await store().tasks.trim('carol', { count: 10, bytes })
        const left = await Promise.all(Object.keys(answers).map((id) => store().tasks.get(id)))
        return left.flatMap((kept) => kept?.id ?? [])
      }
      // Creating the fifth has trimmed the others.
      expect(await trim(1e6)).toEqual(['4'])
      expect(await store().tasks.usage('carol')).toEqual({ open: 1, bytes: 5000 })
      expect(await trim(0)).toEqual(['4'])
      expect(await store().tasks.usage('nobody\0')).toEqual({ open: 0, bytes: 0 })
    })

    it('of the same owner are deleted when new ones are created, the oldest finished first', async () => {
      for (const [i, id] of ['1', '2', '3'].entries()) {
        const { work: _work, ...done } = task(id, { status: 'failed', updatedAt: AT + i })
        await store().tasks.create(done, LIMITS)
      }
      await create('new')
      const kept = await Promise.all(['1', '2', '3', 'new'].map(async (id) => (await store().tasks.get(id))?.id))
      expect(kept).toEqual([undefined, '2', '3', 'new'])
    })

    it('are updated only at the version that was read: one of many concurrent updates wins', async () => {
      await create('t')
      const tries = await Promise.all(
        Array.from({ length: 10 }, (_, i) => store().tasks.update(task('t', { status: 'running', answer: String(i) }))),
      )
      expect(tries.filter((done) => done)).toHaveLength(1)
      const changed = await store().tasks.get('t')
      expect(changed).toMatchObject({ version: 2, status: 'running', answer: String(tries.indexOf(true)) })
    })

    it('without a current holder are claimed once, oldest first', async () => {
      await create('free', { heldUntil: AT - 2, createdAt: AT + 1 })
      await create('older', { heldUntil: AT, owner: 'dave' })
      await create('held', { heldUntil: AT + 1 })
      const { work: _work, ...done } = task('done', { heldUntil: 0, status: 'completed' })
      await store().tasks.create(done, LIMITS)
      const claim = { holder: 'p2', at: AT, until: AT + 500, limit: 10 }
      const claimed = (await Promise.all([1, 2, 3].map(() => store().tasks.claim(claim)))).flat()
      expect(claimed.map(({ id, version, holder }) => [id, version, holder]).toSorted()).toEqual([
        ['free', 2, 'p2'],
        ['older', 2, 'p2'],
      ])
      expect(await store().tasks.get('free')).toEqual(claimed.find(({ id }) => id === 'free'))
      expect(await store().tasks.update(task('free')), 'from the former holder').toBe(false)
      const [first] = await store().tasks.claim({ ...claim, at: AT + 5000, limit: 1 })
      expect(first?.createdAt).toBe(AT)
    })

    it('are kept by their holder through renewal', async () => {
      await create('mine')
      await create('theirs', { holder: 'p2' })
      const { work: _work, ...done } = task('done')
      await store().tasks.create(done, LIMITS)
      await create('unnamed', { owner: 'dave' })
      const ids = ['mine', 'theirs', 'done', 'unknown']
      expect(await store().tasks.renew('p1', ids, AT + 9000)).toEqual(['mine'])
      expect(await store().tasks.get('mine')).toMatchObject({ heldUntil: AT + 9000, version: 1 })
      expect(await store().tasks.get('unnamed')).toMatchObject({ heldUntil: AT + 1000 })
      expect(await store().tasks.renew('p3', ids, AT)).toEqual([])
    })

    it('are pruned when they are finished and expired', async () => {
      await create('working', { expiresAt: AT })
      for (const [id, expiresAt] of [
        ['over', AT + 4],
        ['kept', AT + 5],
      ] as const) {
        const { work: _work, ...done } = task(id, { expiresAt })
        await store().tasks.create(done, LIMITS)
      }
      await store().prune({ audit: 0, tombstones: 0, changes: 0, idempotency: 0, tasks: AT + 5 })
      expect(await store().tasks.get('over')).toBeUndefined()
      expect(await store().tasks.get('kept')).toBeDefined()
      expect(await store().tasks.get('working')).toBeDefined()
    })

    it('with text that cannot be stored are rejected', async () => {
      for (const bad of [{ operation: 'x\0' }, { session: '\ud800' }, { owner: '\0' }]) {
        await expect(create('t', bad)).rejects.toMatchObject({ code: 'invalid' })
      }
    })
  })
}
