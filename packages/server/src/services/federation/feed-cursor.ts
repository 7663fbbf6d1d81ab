import { invalid } from '@switchboard/protocol'

/**
 * A position in the change feed. It consists of times and of the number of the last agent sent, so any replica can
 * continue from it, also after a restart.
 * - `list`: within a complete list that was started at `at`
 * - `page`: within a list of changes
 * - `end`: everything up to `at` has been sent
 */
export interface FeedCursor {
  readonly kind: 'list' | 'page' | 'end'
  /** Milliseconds. */
  readonly at: number
  /** Number of the last agent sent. */
  readonly number: number
}

const LETTERS = { l: 'list', p: 'page', e: 'end' } as const
const RADIX = 36

export const writeCursor = ({ kind, at, number }: FeedCursor): string =>
  [kind.slice(0, 1), at.toString(RADIX), ...(kind === 'end' ? [] : [number.toString(RADIX)])].join('.')

export function parseCursor(text: string): FeedCursor {
  const [, letter, at = '', number = '0'] = /^([lpe])\.([a-z\d]{1,10})(?:\.([a-z\d]{1,10}))?$/.exec(text) ?? []
  if (letter !== 'l' && letter !== 'p' && letter !== 'e')
    throw invalid([{ at: '?since', message: 'is not a cursor of this feed: leave it out to read from the start' }])
  return { kind: LETTERS[letter], at: Number.parseInt(at, RADIX), number: Number.parseInt(number, RADIX) }
}
