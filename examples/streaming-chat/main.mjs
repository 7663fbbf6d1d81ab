// A chat that answers word by word, remembers what was said in the same session, and stops when nobody listens.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { createAgent } from '@switchboard/agent'
import { createCaller } from '@switchboard/client'

/** The signal of the latest answer: it ends when the caller goes away. */
let latest

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
        const before = session.data.get('said') ?? []
        session.data.set('said', [...before, text])
        for (const word of answerTo(text, before)) {
          await pause(20, undefined, { signal })
          yield { word }
        }
      },
    },
  ],
})

function* answerTo(text, before) {
  if (text === 'Talk for ever') for (;;) yield 'and'
  yield* before.length === 0 ? ['Nice', 'to', 'meet', 'you.'] : `Before that you said: ${before.join('; ')}.`.split(' ')
}

const { url } = await chat.listen()
const uri = `agent://${new URL(url).host}/talk`
// Connections are shared by the calls of one caller.
const caller = createCaller({ httpLoopback: true })

/** The whole answer, shown as it comes. */
async function say(text, sessionId) {
  const words = []
  process.stdout.write(`${sessionId}: ${text}\n  → `)
  for await (const { data } of caller.stream(uri, { text }, { sessionId })) {
    process.stdout.write(`${data.word} `)
    words.push(data.word)
  }
  process.stdout.write('\n')
  return words
}

try {
  assert.deepEqual(await say('I like boats', 'ann'), ['Nice', 'to', 'meet', 'you.'])
  assert.equal((await say('What do I like?', 'ann')).join(' '), 'Before that you said: I like boats.')
  assert.deepEqual(await say('What do I like?', 'ben'), ['Nice', 'to', 'meet', 'you.'])

  // Who asks for no stream gets all parts at once.
  const reply = await caller.invoke(uri, { text: 'Hello' }, { sessionId: 'cat' })
  assert.deepEqual(
    reply.output.map(({ word }) => word),
    ['Nice', 'to', 'meet', 'you.'],
  )

  let heard = 0
  for await (const _part of caller.stream(uri, { text: 'Talk for ever' })) {
    heard++
    if (heard === 3) break
  }
  if (!latest.aborted) await once(latest, 'abort')
  assert.equal(latest.aborted, true)
  console.log('after three words of an endless answer the caller left, and the agent stopped')
} finally {
  await caller.close()
  await chat.close()
}
