import { Anchor, Text } from '@mantine/core'
import { toDisplayText } from '@switchboard/client/discovery'
import { Fragment, type ReactNode } from 'react'
import { Link } from 'wouter'
import { directory } from '../../app/api.js'
import { useLoad } from '../../app/use-load.js'
import { strings } from '../../strings.js'
import { countFilters, type SearchState, toParams, toRequest } from './search-state.js'
import type { Results } from './use-results.js'

const { search } = strings

/** A link to another search; it can be opened in a new tab and shared. */
export function SearchLink({ to, children }: { readonly to: SearchState; readonly children: ReactNode }): ReactNode {
  return (
    <Anchor component={Link} href={`/?${toParams(to)}`} inherit>
      {children}
    </Anchor>
  )
}

/** Says which words were taken for typos, with the way back. */
export function Corrected({ results: { first, state } }: { readonly results: Results }): ReactNode {
  if (first.corrected.length === 0) return null
  return (
    <Text size="sm">
      {search.correctedTo}{' '}
      {first.corrected.map(({ from, to }, at) => (
        <Fragment key={from}>
          {at > 0 && ', '}
          <strong>{toDisplayText(to)}</strong> {search.insteadOf} <em>{toDisplayText(from)}</em>
        </Fragment>
      ))}
      {'. '}
      <SearchLink to={{ ...state, isExact: true }}>{search.searchExactly}</SearchLink>
    </Text>
  )
}

/** What the directory says about the limits of this search, such as that it has just started. */
export function Warnings({ results: { first } }: { readonly results: Results }): ReactNode {
  return first.warnings.map((warning) => (
    <Text key={warning} size="sm" c="dimmed">
      {toDisplayText(warning)}
    </Text>
  ))
}

/** What to do if nothing was found. */
export function NothingFound({ results: { first, state } }: { readonly results: Results }): ReactNode {
  const chosen = countFilters(state)
  const unfiltered = { ...state, filters: {} }
  const { value: others } = useLoad(toParams(unfiltered).toString(), async (signal) => {
    const { facets: _counts, ...request } = toRequest(unfiltered, 0, 1)
    return chosen > 0 ? (await directory.search(request, { signal })).total : undefined
  })
  return (
    <div className="search-nothing">
      {first.suggestions.length > 0 && (
        <Text>
          {search.didYouMean}{' '}
          {first.suggestions.map((word, at) => (
            <Fragment key={word}>
              {at > 0 && ', '}
              <SearchLink to={{ ...state, query: word, isExact: false }}>{toDisplayText(word)}</SearchLink>
            </Fragment>
          ))}
        </Text>
      )}
      <ul>
        {chosen > 0 && (
          <li>
            <SearchLink to={unfiltered}>{search.removeFilters(chosen)}</SearchLink>
            {others !== undefined && `: ${search.count(others)}`}
          </li>
        )}
        {state.isExact && (
          <li>
            <SearchLink to={{ ...state, isExact: false }}>{search.allowTypos}</SearchLink>
          </li>
        )}
        {state.query !== '' && <li>{search.otherWords}</li>}
        <li>
          <SearchLink to={{ ...state, query: '', isExact: false, filters: {} }}>{search.showAll}</SearchLink>
        </li>
      </ul>
    </div>
  )
}
