// A chat that responds word by word, remembers what was said in the same session, and stops when nobody listens.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { createAgent } from '@switchboard/agent'
import { createCaller } from '@switchboard/client'

/** The signal of the latest call; it aborts when the caller goes away. */
let latest: AbortSignal | undefined

const chat = createAgent({
  name: 'chat',
  version: '1.0.0',
  description: 'Talks about what it was told before.',
  capabilities: [
    {
      name: 'talk',
      input: { text: 'string' },
      memoryEnabled: true,
      async *handler({ text }, { session, signal }) {
        latest = signal
        const before = [session?.data.get('said') ?? []].flat().map(String)
        session?.data.set('said', [...before, text])
        for (const word of respond(text, before)) {
          await pause(20, undefined, { signal })
          yield { word }
        }
      },
    },
  ],
})

function* respond(text: string, before: readonly string[]): Generator<string> {
  if (text === 'Talk forever') for (;;) yield 'and'
  yield* before.length === 0 ? ['Nice', 'to', 'meet', 'you.'] : `Before that you said: ${before.join('; ')}.`.split(' ')
}

const { url = '' } = await chat.listen()
const uri = `agent://${new URL(url).host}/talk`
// The calls of one caller share connections.
const caller = createCaller({ httpLoopback: true })

/** Says something and shows the response as it arrives. */
async function say(text: string, sessionId: string): Promise<string[]> {
  const words: string[] = []
  process.stdout.write(`${sessionId}: ${text}\n  → `)
  for await (const { data } of caller.stream(uri, { text }, { sessionId })) {
    const { word } = Object(data)
    process.stdout.write(`${word} `)
    words.push(word)
  }
  process.stdout.write('\n')
  return words
}

try {
  assert.deepEqual(await say('I like boats', 'ann'), ['Nice', 'to', 'meet', 'you.'])
  assert.equal((await say('What do I like?', 'ann')).join(' '), 'Before that you said: I like boats.')
  assert.deepEqual(await say('What do I like?', 'ben'), ['Nice', 'to', 'meet', 'you.'])

  // Without a stream, all parts arrive at once.
  const reply = await caller.invoke<{ word: string }[]>(uri, { text: 'Hello' }, { sessionId: 'cat' })
  assert.deepEqual(
    reply.output.map(({ word }) => word),
    ['Nice', 'to', 'meet', 'you.'],
  )

  let heard = 0
  for await (const _part of caller.stream(uri, { text: 'Talk forever' })) {
    heard++
    if (heard === 3) break
  }
  assert.ok(latest)
  if (!latest.aborted) await once(latest, 'abort')
  console.log('after three words of an endless response the caller left, and the agent stopped')
} finally {
  await caller.close()
  await chat.close()
}
