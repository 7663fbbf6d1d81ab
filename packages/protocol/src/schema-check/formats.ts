import { fastFormats } from 'ajv-formats/dist/formats.js'
import type { JsonValue } from '../json.js'

type Test = (value: JsonValue) => boolean

/** Formats that are checked; of others, JSON Schema says, nothing is known. */
export const FORMATS: ReadonlyMap<string, Test> = new Map(
  Object.entries(fastFormats).flatMap(([name, format]): [string, Test][] => {
    // The library's expression for `url` takes quadratic time.
    if (name === 'url') return [[name, (value) => typeof value !== 'string' || isUrl(value)]]
    const rule = typeof format === 'object' && 'validate' in format ? format.validate : format
    if (rule instanceof RegExp) return [[name, (value) => typeof value !== 'string' || rule.test(value)]]
    const isNumeric = typeof format === 'object' && 'type' in format && format.type === 'number'
    if (typeof rule !== 'function') return []
    return [
      [
        name,
        (value) =>
          typeof value !== (isNumeric ? 'number' : 'string') || Boolean(Reflect.apply(rule, undefined, [value])),
      ],
    ]
  }),
)

const isUrl = (text: string): boolean => /^(https?|ftp):\/\//i.test(text) && URL.canParse(text)
