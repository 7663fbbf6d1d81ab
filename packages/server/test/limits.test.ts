import type { JsonObject } from '@switchboard/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { setUp } from './invoke/setup.js'
import { aidipAgent } from './support/documents.js'
import { expectError } from './support/errors.js'

const setup = setUp()

const admin = { as: 'admin' } as const
const setLimits = (body: JsonObject) => setup.directory.post('/admin/limits', { ...admin, body })
const rules = async () => (await setup.directory.get('/admin/limits', admin)).json
const ownLimits = async (as: 'tokA' | 'tokC' = 'tokC') => {
  const { json } = await setup.directory.get('/limits', { as })
  return Object.fromEntries(json.limits.map((limit: { name: string }) => [limit.name, limit]))
}

afterEach(async () => {
  for (const { id } of (await rules()).limits)
    await setup.directory.delete(`/admin/limits/${encodeURIComponent(id)}`, admin)
})

/** Lets the agent wait with its responses until the result is called; the next test starts without that. */
function holdReplies(): () => void {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const { reply } = setup.agent
  setup.agent.reply = async (...args) => {
    await held
    return reply(...args)
  }
  return release
}

describe('limits of a subject', () => {
  it('AIDIP-9-11 AIDIP00-7-04 replace the rate limits of the config at once, for this subject only', async () => {
    const { directory } = setup
    await setLimits({ subject: 'tokC', limits: { lookup_per_minute: 2 } })
    const read = (as: 'tokC' | 'tokB') => directory.get('/agents/none', { as })
    expect([(await read('tokC')).status, (await read('tokC')).status]).toEqual([404, 404])
    const refused = await read('tokC')
    expectError(refused, { status: 429 })
    expect(refused.text).toContain('2 lookup requests per minute')
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('ratelimit-policy')).toBe('"lookup";q=2;w=60')
    expect((await read('tokB')).status).toBe(404)
    await directory.delete('/admin/limits/subject:tokC', admin)
    expect((await read('tokC')).status).toBe(404)
  })

  it('AIDIP-9-12 bound the calls of a day, which the subject can see', async () => {
    await setup.register()
    await setLimits({ subject: 'tokC', limits: { calls_per_day: 3 } })
    expect((await setup.call({ text: 'one' })).status).toBe(200)
    expect((await setup.call([{ text: 'two' }, { text: 'three' }, { text: 'four' }])).status).toBe(429)
    expect((await setup.call([{ text: 'two' }, { text: 'three' }])).status).toBe(200)
    const refused = await setup.call({ text: 'four' })
    expectError(refused, { status: 429 })
    expect(refused.json).toMatchObject({ limit: { name: 'calls_per_day', limit: 3, used: 3 } })
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(86_400)
    expect(setup.agent.calls).toHaveLength(3)
    expect((await setup.call({ text: 'mine' }, { as: 'tokB' })).status).toBe(200)

    expect((await ownLimits()).calls_per_day).toMatchObject({ limit: 3, used: 3, set_for: 'subject:tokC' })
    expect((await rules()).limits).toMatchObject([{ subject: 'tokC', used: { calls_per_day: 3 } }])
    await setup.directory.restart()
    expect((await setup.call({ text: 'four' })).status).toBe(429)
    await setLimits({ subject: 'tokC', limits: { calls_per_day: 4 } })
    expect((await setup.call({ text: 'four' })).status).toBe(200)
  })

  it('bound concurrent calls', async () => {
    await setup.register()
    await setLimits({ subject: 'tokC', limits: { concurrent_calls: 1 } })
    const release = holdReplies()
    const first = setup.call({ text: 'one' })
    await expect.poll(async () => (await ownLimits()).concurrent_calls.used).toBe(1)
    expectError(await setup.call({ text: 'two' }), { status: 429 })
    release()
    expect((await first).status).toBe(200)
    expect((await setup.call({ text: 'three' })).status).toBe(200)
  })

  it('bound what it may register', async () => {
    const { directory } = setup
    await setLimits({ subject: 'tokA', limits: { agents: 1 } })
    const register = (id: string) => directory.post('/agents', { as: 'tokA', body: aidipAgent({ id }) })
    expect((await register('one')).status).toBe(201)
    const refused = await register('two')
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('agents')
    const { json } = await directory.get('/admin/audit?agent=two', admin)
    expect(json.entries).toMatchObject([
      {
        action: 'register',
        outcome: 'refused',
        actor: 'tokA',
        detail: expect.stringMatching(/^quota_exceeded: .*1 agents/),
      },
    ])
    expect((await ownLimits('tokA')).agents).toMatchObject({ limit: 1, used: 1, set_for: 'subject:tokA' })
    expect((await ownLimits('tokA')).bytes.used).toBeGreaterThan(0)
  })
})

describe('limits of deferred calls', () => {
  const defer = (text: string) => setup.call({ text }, { headers: { prefer: 'respond-async' } })
  const statusOf = async (task: string): Promise<unknown> => {
    const { status, json } = await setup.directory.get(task, { as: 'tokC' })
    return status === 200 ? json.status : status
  }
  const completed = async (text: string): Promise<string> => {
    const answer = await defer(text)
    expect(answer.status, answer.text).toBe(202)
    const task = answer.headers.get('location') ?? ''
    await expect.poll(() => statusOf(task), { timeout: 8000 }).toBe('completed')
    return task
  }

  it('show what is used, of unfinished tasks and of the bytes of results', async () => {
    await setup.register()
    await setLimits({ subject: 'tokC', limits: { open_tasks: 1 } })
    const release = holdReplies()
    const answer = await defer('one')
    expect((await ownLimits()).open_tasks).toMatchObject({ limit: 1, used: 1 })
    expectError(await defer('two'), { status: 429 })
    release()
    await expect.poll(() => statusOf(answer.headers.get('location') ?? ''), { timeout: 8000 }).toBe('completed')
    expect((await ownLimits()).open_tasks).toMatchObject({ limit: 1, used: 0 })
    expect((await ownLimits()).task_bytes.used).toBeGreaterThan(0)
  })

  it('bound the bytes of results that are kept: the oldest go first, the newest stays', async () => {
    await setup.register()
    await setLimits({ subject: 'tokC', limits: { task_bytes: 3000 } })
    const tasks: string[] = []
    for (const text of ['a', 'b', 'c']) tasks.push(await completed(text.repeat(1400)))
    await expect.poll(() => Promise.all(tasks.map(statusOf))).toEqual([404, 'completed', 'completed'])
    tasks.push(await completed('d'.repeat(5000)))
    await expect.poll(() => Promise.all(tasks.map(statusOf))).toEqual([404, 404, 404, 'completed'])
  })
})

describe('limits of a scope or of an agent', () => {
  it('apply to every subject with the scope that has no limit of its own', async () => {
    const { directory } = setup
    await setLimits({ scope: 'publish', limits: { register_per_minute: 1 } })
    await setLimits({ subject: 'tokB', limits: { register_per_minute: 2 } })
    const register = async (as: 'tokA' | 'tokB', id: string) =>
      (await directory.post('/agents', { as, body: aidipAgent({ id }) })).status
    expect([await register('tokA', 'a1'), await register('tokA', 'a2')]).toEqual([201, 429])
    expect([await register('tokB', 'b1'), await register('tokB', 'b2'), await register('tokB', 'b3')]).toEqual([
      201, 201, 429,
    ])
    expect((await ownLimits('tokA')).register_per_minute).toMatchObject({ limit: 1, set_for: 'scope:publish' })
  })

  it('bound the calls of all callers to an agent', async () => {
    await setup.register()
    await setLimits({ agent: 'x', limits: { calls_per_day: 1 } })
    expect((await setup.call({ text: 'one' })).status).toBe(200)
    const refused = await setup.call({ text: 'two' }, { as: 'tokB' })
    expectError(refused, { status: 429 })
    expect(refused.text).toContain('the agent gets 1 calls per day')
    expect((await rules()).limits).toMatchObject([{ id: 'agent:x', agent: 'x', used: { calls_per_day: 1 } }])
  })
})

describe('/admin/limits', () => {
  it('lists rules and defaults, replaces the rule of a target, and records changes in the audit log', async () => {
    await setLimits({ subject: 'issuer#sub', limits: { agents: 1, bytes: 2 } })
    const replaced = await setLimits({ subject: 'issuer#sub', limits: { agents: 3 } })
    expect(replaced).toMatchObject({ status: 200, json: { id: 'subject:issuer#sub', limits: { agents: 3 } } })
    const { limits, defaults } = await rules()
    expect(limits).toHaveLength(1)
    expect(defaults).toMatchObject({ search_per_minute: 1e6, agents: expect.any(Number), open_tasks: 100 })
    const audit = (await setup.directory.get('/admin/audit?action=limit.set&limit=1', admin)).json.entries
    expect(audit).toMatchObject([
      {
        actor: 'admin',
        before: { subject: 'issuer#sub', limits: { agents: 1, bytes: 2 } },
        after: { subject: 'issuer#sub', limits: { agents: 3 } },
      },
    ])
    expectError(await setup.directory.delete('/admin/limits/subject:nobody', admin), { status: 404 })
  })

  it('rejects what it cannot apply, and is for administrators only', async () => {
    const { directory } = setup
    const wrong: [JsonObject, string][] = [
      [{ limits: { agents: 1 } }, '/subject'],
      [{ subject: 'a', agent: 'b', limits: { agents: 1 } }, 'one of'],
      [{ subject: 'a', limits: {} }, '/limits'],
      [{ subject: 'a', limits: { agents: -1 } }, '/limits/agents'],
      [{ subject: 'a', limits: { search_per_minute: 0 } }, '/limits/search_per_minute'],
      [{ subject: 'a', limits: { calls: 1 } }, '/limits'],
      [{ agent: 'a', limits: { bytes: 1 } }, '/limits/bytes'],
      [{ subject: 'a\u0000', limits: { agents: 1 } }, '/subject'],
    ]
    for (const [body, at] of wrong) {
      const response = await setLimits(body)
      expectError(response, { status: 400 })
      expect(response.text).toContain(at)
    }
    expectError(await directory.get('/admin/limits', { as: 'tokA' }), { status: 403 })
    expectError(await directory.get('/limits'), { status: 401 })
  })
})
