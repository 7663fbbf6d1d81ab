import { type Agent, AgentError, createAgent } from '@switchboard/agent'
import { CITY_NAMES, findCity } from './cities.js'

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June'],
  ...['July', 'August', 'September', 'October', 'November', 'December'],
] as const

/** Millimetres of rain in a month, from which it counts as wet. */
const WET_MM = 60

function describe(temperature: number, rain: number): string {
  const warmth = temperature < 5 ? 'cold' : temperature < 14 ? 'cool' : temperature < 22 ? 'mild' : 'hot'
  return `${warmth} and ${rain >= WET_MM ? 'often rainy' : 'mostly dry'}`
}

/** The output schema describes each member, which shows up wherever the agent is displayed. */
export const createWeather = (): Agent =>
  createAgent({
    id: 'demo-weather',
    name: 'Typical weather',
    version: '1.0.0',
    description: `Tells the usual weather of a European city in any month: temperature, rain, and whether to take an umbrella. Knows ${CITY_NAMES.join(', ')}.`,
    tags: ['demo', 'weather', 'travel', 'climate'],
    examples: [
      'what is the weather like in Lisbon in May?',
      'do I need an umbrella in Rome?',
      'how cold is Stockholm?',
    ],
    capabilities: [
      {
        name: 'weather',
        description: 'The usual weather of a city in a month, from averages of many years.',
        safe: true,
        input: {
          type: 'object',
          properties: {
            city: { type: 'string', description: CITY_NAMES.join(', ') },
            month: { enum: MONTHS, description: 'default: the current month' },
          },
          required: ['city'],
        },
        output: {
          type: 'object',
          properties: {
            city: { type: 'string' },
            month: { enum: MONTHS },
            temperature: { type: 'integer', description: 'mean temperature in °C' },
            rain: { type: 'integer', description: 'rain of the month in mm' },
            summary: { type: 'string' },
          },
          required: ['city', 'month', 'temperature', 'rain', 'summary'],
        },
        handler(input) {
          const city = findCity(input.city)
          if (!city) throw new AgentError('invalid_input', `unknown city: use one of ${CITY_NAMES.join(', ')}`)
          const index = input.month ? MONTHS.indexOf(input.month) : new Date().getMonth()
          const [month = 'January', temperature = 0, rain = 0] = [
            MONTHS[index],
            city.temperature[index],
            city.rain[index],
          ]
          return { city: city.name, month, temperature, rain, summary: describe(temperature, rain) }
        },
      },
    ],
  })
