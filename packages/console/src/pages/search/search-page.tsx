import './search.css'
import { Stack, Text, TextInput, Title } from '@mantine/core'
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks'
import { type KeyboardEvent, lazy, type ReactNode, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { Failure } from '../../parts/failure.js'
import { Loading } from '../../parts/loading.js'
import { strings } from '../../strings.js'
import { ChosenFilters, Filters } from './filters.js'
import { Corrected, NothingFound, Warnings } from './notices.js'
import { focusResult, ResultList } from './result-list.js'
import { countFilters, readState, type SearchState, SORTS, toParams } from './search-state.js'
import { useResults } from './use-results.js'

const { search } = strings

/** Few people ever see it, so it is not part of the first load. */
const EmptyDirectory = lazy(async () => ({ default: (await import('./empty-directory.js')).EmptyDirectory }))

/** Milliseconds without a key press after which a query is sent. */
const PAUSE_MS = 150

/** Finds agents while you type. The address of the page contains the whole search. */
export function SearchPage(): ReactNode {
  const [params, setParams] = useSearchParams()
  const state = readState(params)
  const { results, error, isLoading, reload, show } = useResults(state)
  const box = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)
  useSlashKey(box)

  /** Typing replaces the address, so that Back leads to the page before and not through every letter. */
  const open = (next: SearchState, replace = false): void => setParams(toParams(next), { replace })
  const isEmpty = results?.total === 0 && toParams(results.state).size === 0
  return (
    <Stack gap="sm">
      <Title order={1} size="h2">
        {search.title}
      </Title>
      <SearchBox
        input={box}
        query={state.query}
        onQuery={(query) => open({ ...state, query, isExact: false }, true)}
        onDown={() => focusResult(list.current, 0)}
      />
      {error !== undefined && <Failure error={error} onRetry={reload} />}
      {!results && error === undefined && <Loading />}
      {isEmpty && <EmptyDirectory onFilled={reload} />}
      {results && !isEmpty && (
        <div className="search-columns">
          <Side chosen={countFilters(state)}>
            <Filters state={state} facets={results.first.facets} onChange={open} />
          </Side>
          <div ref={list} className="search-main">
            <div className="search-bar-above">
              <Text role="status" c="dimmed" size="sm">
                {results.total === 0 ? search.nothing : search.count(results.total)}
              </Text>
              <ChosenFilters state={state} onChange={open} />
              <SortMenu state={state} onChange={open} />
            </div>
            <Corrected results={results} />
            <Warnings results={results} />
            {results.total === 0 && <NothingFound results={results} />}
            {results.total > 0 && (
              <ResultList results={results} show={show} isLoading={isLoading} onLeave={() => box.current?.focus()} />
            )}
          </div>
        </div>
      )}
    </Stack>
  )
}

/** A column beside the results, or folded up above them on a small screen. */
function Side({ chosen, children }: { readonly chosen: number; readonly children: ReactNode }): ReactNode {
  const isWide = useMediaQuery('(min-width: 62em)', true)
  if (isWide) return <aside aria-label={search.filtersLabel}>{children}</aside>
  return (
    <details className="search-side">
      <summary>{search.filtersTitle(chosen)}</summary>
      {children}
    </details>
  )
}

function SortMenu({
  state,
  onChange,
}: {
  readonly state: SearchState
  readonly onChange: (state: SearchState) => void
}): ReactNode {
  return (
    <label className="search-sort">
      {search.sortBy}{' '}
      <select
        value={state.sort}
        onChange={({ currentTarget: { value } }) =>
          onChange({ ...state, sort: SORTS.find((sort) => sort === value) ?? SORTS[0] })
        }
      >
        {SORTS.map((sort) => (
          <option key={sort} value={sort}>
            {search.sorts[sort]}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Holds what is typed until there is a pause, and follows the address if that changes otherwise. */
function SearchBox({
  input,
  query,
  onQuery,
  onDown,
}: {
  readonly input: React.RefObject<HTMLInputElement | null>
  readonly query: string
  readonly onQuery: (query: string) => void
  readonly onDown: () => void
}): ReactNode {
  const [typed, setTyped] = useState(query)
  const sent = useRef(query)
  useEffect(() => {
    if (query !== sent.current) setTyped(query)
    sent.current = query
  }, [query])
  const send = useDebouncedCallback((text: string) => {
    sent.current = text
    onQuery(text)
  }, PAUSE_MS)
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowDown') return
    event.preventDefault()
    onDown()
  }
  return (
    <TextInput
      ref={input}
      type="search"
      size="md"
      aria-label={search.label}
      placeholder={search.placeholder}
      value={typed}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value)
        send(value)
      }}
      onKeyDown={onKeyDown}
      rightSection={<kbd>/</kbd>}
      data-autofocus
    />
  )
}

/** "/" leads to the search box from anywhere but another field. */
function useSlashKey(box: React.RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      const isTyping =
        event.target instanceof Element && event.target.matches('input, textarea, select, [contenteditable]')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      box.current?.focus()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [box])
}
