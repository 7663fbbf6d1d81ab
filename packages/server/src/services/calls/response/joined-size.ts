import { countValues, type JsonValue } from '@switchboard/protocol'

/** Most characters of JSON in a response that is put together from several values; the gateway limits each of them. */
const MAX_JOINED = 10 * 1024 * 1024

/**
 * Measures values that are put together into one response.
 *
 * @returns a function that adds a value and, if they have become too large together, says what is allowed
 */
export function createJoinedSize(maxValues: number): (value: JsonValue) => string | undefined {
  let [length, values] = [0, 0]
  return (value) => {
    length += JSON.stringify(value).length
    values += countValues(value)
    if (length > MAX_JOINED) return `${MAX_JOINED} characters`
    return values > maxValues ? `${maxValues} JSON values` : undefined
  }
}
