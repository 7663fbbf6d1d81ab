import { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../aidip/requests.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'
import { settle } from './settle.js'

/** Milliseconds; much more than a search may wait for the model, because the machine may be busy. */
const PROMPT_MS = 3000

const children: ChildProcess[] = []
const onChildProcess = (message: unknown): void => {
  if (typeof message !== 'object' || message === null || !('process' in message)) return
  if (message.process instanceof ChildProcess) children.push(message.process)
}

let directory: TestDirectory
beforeAll(async () => {
  subscribe('child_process', onChildProcess)
  directory = await startDirectory({ search: { embedder: 'builtin', embedTimeoutMs: 300 } })
})
afterAll(async () => {
  unsubscribe('child_process', onChildProcess)
  await directory.close()
})

const searchFor = async (query: string) => {
  const started = performance.now()
  const { json, headers } = await directory.post('/agents/search', { body: { query } })
  const found: string[] = json.map(({ id }: { id: string }) => id)
  return { found, warning: headers.get('x-switchboard-warnings'), ms: performance.now() - started }
}

describe('a frozen embedding model', () => {
  it('PROF-7.2-03 does not hold up searches, which do without it and say so, nor registrations', async () => {
    await register(directory, aidipAgent({ id: 'law', name: 'Lex', description: 'Summarises long contracts.' }))
    await settle(directory)
    const model = children.at(-1)
    model?.kill('SIGSTOP')
    for (let i = 0; i < 10; i++) {
      const { found, warning, ms } = await searchFor(`contracts, number ${i}`)
      expect([found, warning]).toEqual([['law'], expect.stringContaining('not responding')])
      expect(ms).toBeLessThan(PROMPT_MS)
    }
    await register(directory, aidipAgent({ id: 'late', name: 'Late', description: 'Reads tide tables.' }))
    expect((await searchFor('tide tables')).found).toEqual(['late'])
    model?.kill('SIGCONT')
    await expect
      .poll(async () => (await searchFor(`sea level ${Math.random()}`)).warning, { timeout: 20_000 })
      .toBe(null)
    expect((await searchFor('agreements condensed')).found).toContain('law')
  })

  it('PROF-7.2-03 that is still being loaded does not hold up a search', async () => {
    await directory.restart()
    const { found, ms } = await searchFor('contracts before the model is loaded')
    expect(found).toContain('law')
    expect(ms).toBeLessThan(PROMPT_MS)
  })
})
