import { createAgent } from '@switchboard/agent'
import type { Page } from 'playwright-core'
import type { TestDirectory } from '../../../server/test/support/directory.js'

/** An agent with every kind of operation that the console can try. */
export const makePlanner = (stopped: string[]) =>
  createAgent({
    name: 'planner',
    version: '2.1.0',
    description: 'Plans journeys: finds a route, tells it day by day, and books it while you wait.',
    tags: ['travel', 'booking'],
    languages: ['en', 'fr'],
    publisher: 'Acme Travel',
    capabilities: [
      {
        name: 'plan',
        description: 'Plans a journey for a group.',
        idempotent: true,
        examples: ['Three days in Lisbon with two children'],
        input: {
          type: 'object',
          properties: {
            city: { type: 'string', description: 'Where to go', minLength: 2 },
            days: { type: 'integer', minimum: 1, maximum: 30, default: 3 },
            pace: { type: 'string', enum: ['slow', 'fast'] },
            guests: {
              type: 'array',
              minItems: 1,
              items: {
                type: 'object',
                properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
                required: ['name'],
              },
            },
            transport: {
              oneOf: [
                {
                  title: 'By train',
                  type: 'object',
                  properties: { kind: { const: 'train' }, first_class: { type: 'boolean' } },
                  required: ['kind'],
                },
                {
                  title: 'By car',
                  type: 'object',
                  properties: { kind: { const: 'car' }, seats: { type: 'integer', minimum: 2 } },
                  required: ['kind', 'seats'],
                },
              ],
            },
            photo: { type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' },
          },
          required: ['city', 'guests'],
        },
        output: {
          type: 'object',
          properties: { summary: { type: 'string', description: 'The plan in one sentence' } },
          required: ['summary'],
        },
        handler: ({ city, days, guests, transport, photo }) => ({
          summary: `${days ?? 1} days in ${city} for ${guests.map(({ name }) => name).join(' and ')}${
            transport ? `, ${JSON.stringify(transport)}` : ''
          }${photo ? `, photo of ${photo.length} characters` : ''}`,
        }),
      },
      {
        name: 'tell',
        description: 'Tells a journey, day by day.',
        input: { days: 'integer' },
        async *handler({ days }, { signal }) {
          signal.addEventListener('abort', () => stopped.push('tell'))
          for (let day = 1; day <= days; day++) {
            yield { day, text: `Day ${day}` }
            await new Promise((resolve) => setTimeout(resolve, 20))
          }
        },
      },
      {
        name: 'book',
        description: 'Books a journey, which takes a while.',
        input: { city: 'string', seconds: 'number' },
        deferred: true,
        handler: async ({ city, seconds }, { signal, progress }) => {
          progress(0.4, 'Asking the hotels')
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, seconds * 1000)
            signal.addEventListener('abort', () => {
              clearTimeout(timer)
              stopped.push('book')
              resolve()
            })
          })
          return { booked: city }
        },
      },
    ],
  })

/** Starts a session without the sign-in page. */
export async function startSession(tab: Page, directory: TestDirectory, key: string): Promise<void> {
  await tab.goto(directory.url)
  await tab.evaluate(async (secret) => {
    const headers = { 'content-type': 'application/json' }
    const { status } = await fetch('/session', { method: 'POST', headers, body: JSON.stringify({ key: secret }) })
    if (status >= 400) throw new Error(`POST /session answered ${status}`)
  }, key)
}
