import { type Agent, AgentError, createAgent } from '@switchboard/agent'

/** How much of the base unit one unit is; temperatures start at another zero, in kelvin. */
interface Unit {
  readonly kind: 'length' | 'mass' | 'volume' | 'speed' | 'temperature'
  readonly factor: number
  readonly zero?: number
}

const UNITS: Readonly<Record<string, Unit>> = {
  mm: { kind: 'length', factor: 0.001 },
  cm: { kind: 'length', factor: 0.01 },
  m: { kind: 'length', factor: 1 },
  km: { kind: 'length', factor: 1000 },
  inch: { kind: 'length', factor: 0.0254 },
  foot: { kind: 'length', factor: 0.3048 },
  yard: { kind: 'length', factor: 0.9144 },
  mile: { kind: 'length', factor: 1609.344 },
  g: { kind: 'mass', factor: 0.001 },
  kg: { kind: 'mass', factor: 1 },
  ounce: { kind: 'mass', factor: 0.028349523125 },
  pound: { kind: 'mass', factor: 0.45359237 },
  ml: { kind: 'volume', factor: 0.001 },
  l: { kind: 'volume', factor: 1 },
  cup: { kind: 'volume', factor: 0.2365882365 },
  gallon: { kind: 'volume', factor: 3.785411784 },
  'km/h': { kind: 'speed', factor: 1 },
  mph: { kind: 'speed', factor: 1.609344 },
  knot: { kind: 'speed', factor: 1.852 },
  celsius: { kind: 'temperature', factor: 1, zero: 273.15 },
  fahrenheit: { kind: 'temperature', factor: 5 / 9, zero: 459.67 * (5 / 9) },
  kelvin: { kind: 'temperature', factor: 1 },
}

/** Finds a unit, also by its plural. @throws {AgentError} `invalid_input` with the names of all units */
function unitOf(name: string): Unit {
  const wanted = name.trim().toLowerCase()
  const plurals: Readonly<Record<string, string>> = { feet: 'foot', inches: 'inch' }
  const unit = UNITS[plurals[wanted] ?? wanted] ?? UNITS[wanted.replace(/s$/, '')]
  if (unit) return unit
  throw new AgentError('invalid_input', `unknown unit "${name}": use ${Object.keys(UNITS).join(', ')}`)
}

function convert(value: number, from: string, to: string): number {
  const [source, target] = [unitOf(from), unitOf(to)]
  if (source.kind !== target.kind) {
    throw new AgentError('invalid_input', `${from} is a unit of ${source.kind}, ${to} of ${target.kind}`)
  }
  const base = value * source.factor + (source.zero ?? 0)
  return Number(((base - (target.zero ?? 0)) / target.factor).toPrecision(10))
}

/** An error that the caller can act on: thrown as an AgentError, it arrives with its message. */
export const createUnits = (): Agent =>
  createAgent({
    id: 'demo-units',
    name: 'Unit converter',
    version: '1.0.0',
    description: 'Converts lengths, weights, volumes, speeds and temperatures between metric and imperial units.',
    tags: ['demo', 'units', 'conversion', 'math'],
    examples: ['how many kilometres are 26 miles?', 'convert 70 fahrenheit to celsius', 'ten pounds in kilograms'],
    capabilities: [
      {
        name: 'convert',
        description: 'Converts a value from one unit into another.',
        safe: true,
        isDeterministic: true,
        input: { value: 'number', from: 'string', to: 'string' },
        output: { value: 'number', unit: 'string' },
        handler: ({ value, from, to }) => ({ value: convert(value, from, to), unit: to }),
      },
    ],
  })
