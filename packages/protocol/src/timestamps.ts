const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/**
 * Parses an RFC 3339 timestamp to milliseconds; `undefined` if it is not valid. `Date.parse` would accept much more,
 * such as "5" and the thirtieth of February.
 */
export function parseTimestamp(text: string): number | undefined {
  const match = TIMESTAMP.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', zone] = match
  if (Number(day) > daysIn(Number(year), Number(month)) || Number(hour) > 23) return undefined
  // A leap second counts as the first moment of the next minute.
  const isLeap = second === '60'
  const instant = Date.parse(
    `${year}-${month}-${day}T${hour}:${minute}:${isLeap ? '59' : second}${isLeap ? '' : fraction}${zone?.toUpperCase()}`,
  )
  if (Number.isNaN(instant)) return undefined
  return isLeap ? instant + 1000 : instant
}

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()
