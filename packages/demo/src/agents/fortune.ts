import { type Agent, AgentError, createAgent } from '@switchboard/agent'

/** Every third call fails. */
const FAILURE_INTERVAL = 3

const FORTUNES = [
  'A long-awaited reply will arrive before the week is over.',
  'What looks like a detour today is the short way of tomorrow.',
  'Somebody whom you have helped remembers it.',
  'The bug is in the line that you have not read yet.',
  'Ask once more. The second answer is better.',
]

/** An agent that fails now and then, to see how callers learn of it, and how statistics and ranking take it. */
export function createFortune(): Agent {
  let calls = 0
  return createAgent({
    id: 'demo-fortune',
    name: 'Fortune cookie',
    version: '1.0.0',
    description: 'Opens a fortune cookie and reads your future. Every third cookie is empty, and the call fails.',
    tags: ['demo', 'fun', 'unreliable'],
    examples: ['tell me my fortune', 'what does the future hold for me?'],
    onError: () => {}, // no need to log: the failure is on purpose
    capabilities: [
      {
        name: 'open',
        description: 'Opens a cookie. Every third call fails.',
        input: {},
        output: { fortune: 'string' },
        handler() {
          calls++
          if (calls % FAILURE_INTERVAL === 0) {
            throw new AgentError('internal_error', 'the cookie was empty')
          }
          return { fortune: FORTUNES[calls % FORTUNES.length] ?? '' }
        },
      },
    ],
  })
}
