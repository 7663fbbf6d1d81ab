import { setTimeout as pause } from 'node:timers/promises'
import { type Agent, createAgent } from '@switchboard/agent'

/** Milliseconds between two words. */
const WORD_MS = 60

const story = (hero: string, place: string): string =>
  `Once upon a time, ${hero} lived in ${place}. One evening the stars went out, one after the other. ` +
  `"Somebody has to light them again," said ${hero}, and climbed the highest hill of ${place} with a small lantern. ` +
  `It took the whole night. When the last star was shining, ${hero} went home and slept, ` +
  `and since then ${place} has had the brightest sky of all.`

/** An async generator streams: each part is sent when it is yielded. Callers that do not stream get what it returns. */
export const createStoryteller = (): Agent =>
  createAgent({
    id: 'demo-storyteller',
    name: 'Storyteller',
    version: '1.0.0',
    description: 'Tells a short bedtime story about somebody whom you name, word by word.',
    tags: ['demo', 'story', 'text', 'streaming'],
    examples: ['tell me a bedtime story about Robin', 'a fairy tale for my daughter'],
    capabilities: [
      {
        name: 'tell',
        description: 'Tells a story as a stream of words.',
        input: { hero: 'string?', place: 'string?' },
        output: { text: 'string' },
        async *handler({ hero = 'Robin', place = 'the forest' }, { signal }) {
          const text = story(hero, place)
          for (const word of text.split(/(?<= )/)) {
            yield { text: word }
            await pause(WORD_MS, undefined, { signal }) // ends when the caller leaves
          }
          return { text }
        },
      },
    ],
  })
