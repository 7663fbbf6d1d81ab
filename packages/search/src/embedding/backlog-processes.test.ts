import { execFileSync } from 'node:child_process'
import { constants, getPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type BacklogProcesses, createBacklogProcesses } from './backlog-processes.js'
import { createBuiltInEmbedder } from './built-in-embedder.js'

const FOLDER = fileURLToPath(new URL('../../model', import.meta.url))

let opened: { close(): Promise<void> } | undefined
afterEach(() => opened?.close())

/** Waits until all processes are ready, or some: one may have ended before another is ready. */
const start = async ({ idleMs, ready = 2 }: { idleMs?: number; ready?: number } = {}): Promise<BacklogProcesses> => {
  const processes = createBacklogProcesses({
    folder: FOLDER,
    count: 2,
    signal: new AbortController().signal,
    ...(idleMs !== undefined && { idleMs }),
  })
  opened = processes
  processes.start()
  await vi.waitFor(() => expect(processes.ready).toBeGreaterThanOrEqual(ready), { timeout: 20_000 })
  return processes
}

/** The processes that run the model for this one, and are not ending. */
const modelProcesses = (): number[] =>
  execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('model-process.js'))
    .map((line) => Number.parseInt(line, 10))

describe('createBacklogProcesses', () => {
  it('runs the model in several processes of low priority', async () => {
    const before = new Set(modelProcesses())
    const processes = await start()
    const own = modelProcesses().filter((pid) => !before.has(pid))
    expect(own.map((pid) => getPriority(pid))).toEqual(Array(2).fill(constants.priority.PRIORITY_BELOW_NORMAL))
    const texts = ['my translator', 'weather in Paris']
    const [first, second] = await Promise.all([processes.embed(texts), processes.embed(texts)])
    expect(first).toHaveLength(2)
    expect(second).toEqual(first)
  })

  it('does without one that has died, and starts it again with the next backlog', async () => {
    const before = new Set(modelProcesses())
    const processes = await start()
    const [victim] = modelProcesses().filter((pid) => !before.has(pid))
    if (victim !== undefined) process.kill(victim, 'SIGKILL')
    await vi.waitFor(() => expect(processes.ready).toBe(1))
    expect(await processes.embed(['my translator'])).toHaveLength(1)
    processes.start()
    await vi.waitFor(() => expect(processes.ready).toBe(2), { timeout: 20_000 })
  })

  it('ends them when there has been nothing to do', async () => {
    const processes = await start({ idleMs: 1000, ready: 1 })
    await vi.waitFor(() => expect(processes.ready).toBe(0), { timeout: 20_000 })
    await expect(processes.embed(['my translator'])).rejects.toThrow('no process is ready')
  })
})

describe('a backlog of documents', () => {
  it('is embedded by further processes, with the same vectors; a query does not wait for it', async () => {
    const embedder = await createBuiltInEmbedder({ backlogProcesses: 2 })
    opened = embedder
    const before = modelProcesses().length
    const texts = Array.from({ length: 1500 }, (_, i) => `translator number ${i} of contracts, letters and other texts`)
    let isDone = false
    const documents = embedder.embed(texts, { background: true }).finally(() => {
      isDone = true
    })
    const [query] = await embedder.embed([texts[3] ?? ''])
    expect(isDone).toBe(false)
    const vectors = await documents
    expect(vectors).toHaveLength(texts.length)
    expect(vectors[3]).toEqual(query)
    await vi.waitFor(() => expect(modelProcesses().length).toBe(before + 2), { timeout: 20_000 })
  })

  it('needs none of them if it is short', async () => {
    const embedder = await createBuiltInEmbedder({ backlogProcesses: 2 })
    opened = embedder
    const before = modelProcesses().length
    expect(await embedder.embed(['one', 'two'], { background: true })).toHaveLength(2)
    expect(modelProcesses().length).toBe(before)
  })
})
