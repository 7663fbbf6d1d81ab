import { toDisplayText } from '@switchboard/client/discovery'
import { memo, type ReactNode } from 'react'
import { splitAtMatches } from './split-at-matches.js'

/** A publisher's text, made safe to show, with the words that matched marked. */
export const Highlighted = memo(function Highlighted({
  text,
  words,
}: {
  readonly text: string
  readonly words: readonly string[]
}): ReactNode {
  const shown = toDisplayText(text)
  if (words.length === 0) return shown
  return splitAtMatches(shown, words).map(({ text, isMatch }, at) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: stretches have no identity but their place.
    isMatch ? <mark key={at}>{text}</mark> : text,
  )
})
