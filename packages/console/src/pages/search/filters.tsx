import { Checkbox, CloseButton, Text } from '@mantine/core'
import { type SearchPage, toDisplayText } from '@switchboard/client/discovery'
import { type ReactNode, useState } from 'react'
import { strings } from '../../strings.js'
import { countFilters, FILTERS, type FilterName, isChosen, type SearchState, withFilter } from './search-state.js'

const { search } = strings

/** Values of a filter that are shown before someone asks for more. */
const FIRST_VALUES = 6

interface FiltersProps {
  readonly state: SearchState
  readonly facets: SearchPage['facets']
  readonly onChange: (state: SearchState) => void
}

/** The filters, each value with the number of agents that it leads to. */
export function Filters({ state, facets, onChange }: FiltersProps): ReactNode {
  const offered = FILTERS.filter((name) => isUseful(state, name, facets))
  if (offered.length === 0) return null
  return (
    <div className="search-filters">
      {offered.map((name) => (
        <FilterValues key={name} name={name} values={facets[name] ?? []} state={state} onChange={onChange} />
      ))}
    </div>
  )
}

/** A filter that leaves everything as it is needs no place. */
function isUseful(state: SearchState, name: FilterName, facets: SearchPage['facets']): boolean {
  const values = facets[name] ?? []
  return values.length > 1 || values.some(({ value }) => isChosen(state, name, value))
}

function FilterValues({
  name,
  values,
  state,
  onChange,
}: Pick<FiltersProps, 'state' | 'onChange'> & {
  readonly name: FilterName
  readonly values: NonNullable<FiltersProps['facets'][string]>
}): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  const chosen = values.filter(({ value }) => isChosen(state, name, value))
  const rest = values.filter(({ value }) => !isChosen(state, name, value))
  const shown = [...chosen, ...(isOpen ? rest : rest.slice(0, FIRST_VALUES))]
  return (
    <fieldset>
      <legend>{search.filters[name]}</legend>
      {shown.map(({ value, count }) => (
        <Checkbox
          key={value}
          size="xs"
          checked={isChosen(state, name, value)}
          onChange={({ currentTarget: { checked } }) => onChange(withFilter(state, name, value, checked))}
          label={
            <>
              <span className="search-value">{toDisplayText(value)}</span>{' '}
              <span className="search-count">{count.toLocaleString('en')}</span>
            </>
          }
        />
      ))}
      {rest.length > FIRST_VALUES && (
        <button type="button" className="search-more" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          {isOpen ? search.fewerValues : search.moreValues(rest.length - FIRST_VALUES)}
        </button>
      )}
    </fieldset>
  )
}

/** What is chosen, to see and to remove at a glance. */
export function ChosenFilters({ state, onChange }: Omit<FiltersProps, 'facets'>): ReactNode {
  if (countFilters(state) === 0) return null
  return (
    <ul className="search-chosen" aria-label={search.chosen}>
      {FILTERS.flatMap((name) =>
        (state.filters[name] ?? []).map((value) => (
          <li key={`${name} ${value}`}>
            <Text span size="sm">
              {search.filters[name]}: {toDisplayText(value)}
            </Text>
            <CloseButton
              size="xs"
              aria-label={search.removeFilter(toDisplayText(value))}
              onClick={() => onChange(withFilter(state, name, value, false))}
            />
          </li>
        )),
      )}
    </ul>
  )
}
