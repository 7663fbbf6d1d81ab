import type { JsonValue } from '@switchboard/protocol'
import { UsageError } from '../usage.js'
import { readJson } from './read-input.js'

/** Parses YAML whose values are those of JSON; `source` names it in the error. */
export async function readYaml(text: string, source: string): Promise<JsonValue> {
  // Loaded when needed: most documents are JSON.
  const { parse } = await import('yaml')
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    throw new UsageError(
      `${source}: is not valid YAML (${error instanceof Error ? error.message.split('\n')[0] : error})`,
    )
  }
  return readJson(JSON.stringify(value) ?? 'null', source)
}
