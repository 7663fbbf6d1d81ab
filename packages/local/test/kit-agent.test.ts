// An agent built with the kit registers with the runtime and is called by its local name.
import { join } from 'node:path'
import { createAgent } from '@switchboard/agent'
import { invokeAgent, streamAgent } from '@switchboard/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Computer, startComputer } from './support/computer.js'

const cancelled: string[] = []
const agent = createAgent({
  name: 'teller',
  version: '1.0.0',
  description: 'Counts, and reverses texts.',
  capabilities: [
    {
      name: 'reverse',
      input: { text: 'string' },
      output: { text: 'string' },
      handler: ({ text }) => ({ text: [...text].reverse().join('') }),
    },
    {
      name: 'count',
      input: { to: 'integer' },
      async *handler({ to }, { signal }) {
        signal.addEventListener('abort', () => cancelled.push('count'))
        for (let n = 1; n <= to; n++) {
          yield { n }
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      },
    },
    {
      name: 'later',
      input: { text: 'string' },
      deferred: true,
      handler: ({ text }) => ({ text }),
    },
  ],
})

describe('an agent built with the kit, on this computer', () => {
  let computer: Computer
  let options: { localSocket: string }
  beforeAll(async () => {
    computer = await startComputer()
    const socket = join(computer.state, '..', 'run', 'teller.sock')
    await agent.listen({ socket })
    await computer.client.register('teller', { socket })
    options = { localSocket: computer.socket }
  })
  afterAll(async () => {
    await agent.close()
    await computer.close()
  })

  it('AURI-6.1-03 is resolved and called by its agent+local URI', async () => {
    const { output } = await invokeAgent('agent+local://teller/reverse?text=abc', undefined, options)
    expect(output).toEqual({ text: 'cba' })
  })

  it('streams, and is cancelled when the caller stops reading', async () => {
    const parts: unknown[] = []
    for await (const { data } of streamAgent('agent+local://teller/count', { to: 3 }, options)) parts.push(data)
    expect(parts).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
    for await (const _part of streamAgent('agent+local://teller/count', { to: 100_000 }, options)) break
    await expect.poll(() => cancelled).toContain('count')
  })

  it('defers a call, and the client waits for the result', async () => {
    const { output } = await invokeAgent('agent+local://teller/later', { text: 'done' }, options)
    expect(output).toEqual({ text: 'done' })
  })

  it('is not found after it was removed', async () => {
    await computer.client.unregister('teller')
    const call = invokeAgent('agent+local://teller/reverse', { text: 'abc' }, options)
    await expect(call).rejects.toMatchObject({ code: 'not_found' })
  })
})
