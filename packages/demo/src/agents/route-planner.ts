import { setTimeout as pause } from 'node:timers/promises'
import { type Agent, createAgent } from '@switchboard/agent'
import { CITY_NAMES, type City, findCity } from './cities.js'

const EARTH_RADIUS_KM = 6371
/** Milliseconds between two slices of work: other calls are served meanwhile. */
const SLICE_MS = 100
const TRIES_IN_A_SLICE = 500

function distance(a: City, b: City): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180
  const [north, east] = [radians(b.latitude - a.latitude), radians(b.longitude - a.longitude)]
  const h =
    Math.sin(north / 2) ** 2 + Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(east / 2) ** 2
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.sqrt(h))
}

/** The length of the round trip in km. */
const lengthOf = (route: readonly City[]): number =>
  route.reduce((sum, city, at) => sum + distance(city, route[(at + 1) % route.length] ?? city), 0)

/** The route with a random part of it reversed; the first city stays first. */
function reverseSomePart(route: readonly City[]): City[] {
  const [a, b] = [0, 0].map(() => 1 + Math.floor(Math.random() * (route.length - 1))).sort((x, y) => x - y)
  const [from = 1, to = 1] = [a, b]
  return [...route.slice(0, from), ...route.slice(from, to + 1).reverse(), ...route.slice(to + 1)]
}

/** `deferred` work: the caller gets a task at once, follows its progress, and may cancel it (`signal`). */
export const createRoutePlanner = (): Agent =>
  createAgent({
    id: 'demo-route-planner',
    name: 'Route planner',
    version: '1.0.0',
    description:
      'Searches the shortest round trip through several European cities. Takes some seconds, so the response is a task.',
    tags: ['demo', 'travel', 'route', 'optimization', 'deferred'],
    examples: ['what is the shortest route through Paris, Rome and Berlin?', 'plan a round trip through Europe'],
    capabilities: [
      {
        name: 'plan',
        description: 'Searches a short round trip, for as many seconds as you allow.',
        deferred: true,
        input: {
          type: 'object',
          properties: {
            cities: {
              type: 'array',
              items: { enum: CITY_NAMES },
              minItems: 2,
              description: 'the first one is where the trip starts and ends; default: all',
            },
            seconds: { type: 'integer', minimum: 1, maximum: 60, description: 'time to search; default: 5' },
          },
        },
        output: {
          type: 'object',
          properties: {
            route: { type: 'array', items: { type: 'string' } },
            kilometres: { type: 'integer' },
          },
          required: ['route', 'kilometres'],
        },
        async handler({ cities = CITY_NAMES, seconds = 5 }, { signal, progress }) {
          let best = cities.flatMap((name) => findCity(name) ?? [])
          const slices = Math.ceil((seconds * 1000) / SLICE_MS)
          for (let slice = 0; slice < slices; slice++) {
            for (let i = 0; i < TRIES_IN_A_SLICE; i++) {
              const other = reverseSomePart(best)
              if (lengthOf(other) < lengthOf(best)) best = other
            }
            progress((slice + 1) / slices, `best so far: ${Math.round(lengthOf(best))} km`)
            await pause(SLICE_MS, undefined, { signal })
          }
          return { route: best.map(({ name }) => name), kilometres: Math.round(lengthOf(best)) }
        },
      },
    ],
  })
