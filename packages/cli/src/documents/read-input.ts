import { DirectoryError, type JsonObject, type JsonValue, parseJson } from '@switchboard/protocol'
import { UsageError } from '../usage.js'
import { readText } from './read-text.js'

/**
 * The input of a call: `--input` with JSON, @file or "-" for stdin; or pairs, `name=text` and `name:=JSON`. Undefined
 * if there is none.
 */
export async function readInput(flag: string | undefined, pairs: readonly string[]): Promise<JsonValue | undefined> {
  if (flag !== undefined && pairs.length > 0) {
    throw new UsageError(`give the input by --input or by pairs, not both: ${pairs.join(' ')}`)
  }
  if (pairs.length > 0) return readPairs(pairs)
  if (flag === undefined) return undefined
  const isFile = flag === '-' || flag.startsWith('@')
  return readJson(isFile ? await readText(flag.replace(/^@/, '')) : flag, isFile ? flag : '--input')
}

function readPairs(pairs: readonly string[]): JsonObject {
  const members = pairs.map((pair): [string, JsonValue] => {
    const [, name, sign, value] = /^([^=:]+)(:?=)(.*)$/s.exec(pair) ?? []
    if (name === undefined || value === undefined) {
      throw new UsageError(`"${pair}" is no input: write name=text or name:=JSON`)
    }
    return [name, sign === '=' ? value : readJson(value, name)]
  })
  const twice = members.find(([name], n) => members.findIndex(([other]) => other === name) !== n)
  if (twice) throw new UsageError(`the input names ${twice[0]} twice`)
  return Object.fromEntries(members)
}

/** JSON, read strictly; what is wrong with it is told with its place. */
export function readJson(text: string, place: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error
    throw new UsageError(`${place}: ${error.message.replace(/^the body is /, '')}`)
  }
}
