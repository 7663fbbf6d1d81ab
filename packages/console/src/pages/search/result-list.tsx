import { useThrottledCallback } from '@mantine/hooks'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { strings } from '../../strings.js'
import { ResultCard } from './result-card.js'
import type { Results } from './use-results.js'

/** Height of a result before it is measured, in pixels. */
const ESTIMATED_HEIGHT = 128
/** Results beyond the edges of the window that are rendered, so that the keyboard finds them. */
const OVERSCAN = 6

/** Milliseconds between requests while someone scrolls past thousands of results. */
const SHOW_INTERVAL_MS = 100

/** All results of a search, of which only those in view are in the page. */
export function ResultList({
  results,
  show,
  isLoading,
  onLeave,
}: {
  readonly results: Results
  readonly show: (from: number, to: number) => void
  readonly isLoading: boolean
  /** Someone has gone up from the first result. */
  readonly onLeave: () => void
}): ReactNode {
  const list = useRef<HTMLOListElement>(null)
  const wanted = useRef<number>(undefined)
  const [top, setTop] = useState(0)
  // At every rendering: what is above the list may have changed its height.
  useLayoutEffect(() => setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY))
  const virtualizer = useWindowVirtualizer({
    count: results.total,
    estimateSize: () => ESTIMATED_HEIGHT,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: (index) => results.at(index)?.agent.id ?? index,
  })
  const items = virtualizer.getVirtualItems()
  const [first, last] = [items[0]?.index, items.at(-1)?.index]
  const showSoon = useThrottledCallback(show, SHOW_INTERVAL_MS)
  useEffect(() => {
    if (first !== undefined && last !== undefined) showSoon(first, last)
  }, [showSoon, first, last])
  useEffect(() => {
    if (wanted.current !== undefined && focusResult(list.current, wanted.current)) wanted.current = undefined
  })

  const onKeyDown = (event: KeyboardEvent<HTMLOListElement>): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    const item = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-index]') : null
    if (step === 0 || !item || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    const next = Number(item.dataset.index) + step
    if (next < 0) onLeave()
    if (next < 0 || next >= results.total || focusResult(list.current, next)) return
    wanted.current = next
    virtualizer.scrollToIndex(next, { align: 'center' })
  }

  return (
    <ol
      ref={list}
      className="search-results"
      aria-label={strings.search.results}
      aria-busy={isLoading}
      style={{ height: virtualizer.getTotalSize() }}
      onKeyDown={onKeyDown}
    >
      {items.map(({ key, index, start }) => {
        const found = results.at(index)
        return (
          <li
            key={key}
            ref={virtualizer.measureElement}
            data-index={index}
            aria-setsize={results.total}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start - top}px)` }}
          >
            {found ? <ResultCard {...found} /> : <div className="search-result search-waiting" aria-hidden="true" />}
          </li>
        )
      })}
    </ol>
  )
}

/** Focuses the link of a result; false if the result is not in the page. */
export function focusResult(list: Element | null, index: number): boolean {
  const link = list?.querySelector<HTMLElement>(`[data-index="${index}"] [data-result]`)
  link?.focus()
  return link != null
}
