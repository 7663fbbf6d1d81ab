import { invalid } from '@switchboard/protocol'
import type { Places } from './invocation.js'

/** Header-safe, and long enough for any id that people make. */
const TOKEN = /^[\x21-\x7e]{1,256}$/

/** The one value that was given, wherever; 400 where two places differ, for a silent choice would be a wrong one (C-63). */
export function agree(name: string, places: Places, same = (a: string, b: string) => a === b): string | undefined {
  const { header, query, path, body, frame } = places
  const given = [header, query, path, body, frame].filter((value) => value !== undefined)
  const [first, ...others] = given
  if (first === undefined) return undefined
  const other = others.find((value) => !same(first, value))
  if (other !== undefined)
    throw invalid([{ at: name, message: `is given as "${cut(first)}" and as "${cut(other)}": say it once` }])
  if (!TOKEN.test(first)) throw invalid([{ at: name, message: 'must be 1 to 256 visible ASCII characters' }])
  return first
}

const cut = (text: string): string => text.slice(0, 100)
