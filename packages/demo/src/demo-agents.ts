import { createFortune } from './agents/fortune.js'
import { startHolidays } from './agents/holidays.js'
import { createPhoneBook, PHONE_BOOK_KEY } from './agents/phone-book.js'
import { createRoutePlanner } from './agents/route-planner.js'
import { startSentiment } from './agents/sentiment.js'
import { createStoryteller } from './agents/storyteller.js'
import { createSummary } from './agents/summary.js'
import { startTextStatistics } from './agents/text-statistics.js'
import { createTranslator } from './agents/translator.js'
import { createUnits } from './agents/units.js'
import { createVat } from './agents/vat.js'
import { createWeather } from './agents/weather.js'
import type { DemoAgent } from './demo-agent.js'

const ARTICLE =
  'A lighthouse shows ships the way. The light of a lighthouse is seen from far away. Keepers lived there alone.'

/** The agents of the demo, in the order in which a newcomer may want to try them. */
export const DEMO_AGENTS: readonly DemoAgent[] = [
  {
    id: 'demo-translator',
    shows: 'a function with a JSON Schema',
    query: 'translate good morning into Spanish',
    input: { text: 'good morning, my friend', to: 'es' },
    create: createTranslator,
  },
  {
    id: 'demo-units',
    shows: 'errors that say what to do',
    query: 'how many kilometres are 26 miles',
    input: { value: 26.2, from: 'miles', to: 'km' },
    create: createUnits,
  },
  {
    id: 'demo-weather',
    shows: 'a described output',
    query: 'will it rain in Lisbon',
    input: { city: 'Lisbon', month: 'May' },
    create: createWeather,
  },
  {
    id: 'demo-summary',
    shows: 'optional input',
    query: 'shorten a long article',
    input: { text: ARTICLE, sentences: 1 },
    create: createSummary,
  },
  {
    id: 'demo-storyteller',
    shows: 'a stream',
    query: 'tell me a bedtime story',
    input: { hero: 'Mira', place: 'the harbour' },
    streams: true,
    create: createStoryteller,
  },
  {
    id: 'demo-route-planner',
    shows: 'a deferred call, with progress, that can be cancelled',
    query: 'shortest round trip through European cities',
    input: { seconds: 5 },
    create: createRoutePlanner,
  },
  {
    id: 'demo-sentiment',
    shows: 'A2A, with the SDK of that project',
    query: 'is this review positive or negative',
    input: { text: 'Great food and friendly people, but the room was cold. I loved it.' },
    start: startSentiment,
  },
  {
    id: 'demo-text-statistics',
    shows: 'MCP, with the SDK of that project',
    query: 'how many words does my text have',
    operation: 'count',
    input: { text: 'Small agents are easy to understand.' },
    start: startTextStatistics,
  },
  {
    id: 'demo-holidays',
    shows: 'a REST API, described by OpenAPI',
    query: 'public holidays in Portugal',
    input: { country: 'PT', year: 2027 },
    start: startHolidays,
  },
  {
    id: 'demo-phone-book',
    shows: 'an agent that requires a key',
    query: 'phone number of a colleague',
    input: { who: 'support' },
    key: PHONE_BOOK_KEY,
    create: createPhoneBook,
  },
  {
    id: 'demo-fortune',
    shows: 'an agent that fails every third time',
    query: 'tell me my future',
    input: {},
    create: createFortune,
  },
  {
    id: 'demo-mehrwertsteuer',
    shows: 'a description in another language',
    query: 'calculate value added tax',
    input: { betrag: 119, art: 'brutto' },
    create: createVat,
  },
]
