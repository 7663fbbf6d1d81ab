import { DirectoryError } from '@switchboard/protocol/errors'
import { type JsonObject, type JsonValue, parseJson } from '@switchboard/protocol/json'
import { UsageError } from '../usage.js'
import { readText } from './read-text.js'

/**
 * Reads the input of a call, from `--input` (JSON, @file, or "-" for stdin) or from pairs (`name=text`, `name:=JSON`).
 * Undefined if there is none.
 */
export async function readInput(flag: string | undefined, pairs: readonly string[]): Promise<JsonValue | undefined> {
  if (flag !== undefined && pairs.length > 0) {
    throw new UsageError(`use either --input or NAME=TEXT pairs, not both: ${pairs.join(' ')}`)
  }
  if (pairs.length > 0) return readPairs(pairs)
  if (flag === undefined) return undefined
  const isFile = flag === '-' || flag.startsWith('@')
  return readJson(isFile ? await readText(flag.replace(/^@/, '')) : flag, isFile ? flag : '--input')
}

function readPairs(pairs: readonly string[]): JsonObject {
  const members = pairs.map((pair): [string, JsonValue] => {
    const [, name, operator, value] = /^([^=:]+)(:?=)(.*)$/s.exec(pair) ?? []
    if (name === undefined || value === undefined) {
      throw new UsageError(`"${pair}" is not a NAME=TEXT or NAME:=JSON pair`)
    }
    return [name, operator === '=' ? value : readJson(value, name)]
  })
  const duplicate = members.find(([name], n) => members.findIndex(([other]) => other === name) !== n)
  if (duplicate) throw new UsageError(`${duplicate[0]} is given twice`)
  return Object.fromEntries(members)
}

/** Parses JSON strictly; `source` names it in the error. */
export function readJson(text: string, source: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error
    throw new UsageError(`${source}: ${error.message.replace(/^the body is /, '')}`)
  }
}
