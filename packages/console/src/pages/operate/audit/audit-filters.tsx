import { NativeSelect, SimpleGrid, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { strings } from '../../../strings.js'

const { audit: texts } = strings.operate

/** What is searched for; empty texts do not restrict it. */
export interface AuditFilters {
  readonly q: string
  readonly subject: string
  readonly agent: string
  readonly action: string
  readonly outcome: string
  /** In the time zone of the browser, as the field writes it. */
  readonly since: string
  readonly until: string
}

export const NO_FILTERS: AuditFilters = { q: '', subject: '', agent: '', action: '', outcome: '', since: '', until: '' }

/** The query of the request. */
export function toQuery(filters: AuditFilters): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) {
    const text = name === 'since' || name === 'until' ? toTime(value) : value.trim()
    if (text !== '') query.set(name, text)
  }
  return query
}

function toTime(local: string): string {
  const date = new Date(local)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}

export interface AuditFiltersFormProps {
  readonly filters: AuditFilters
  readonly onChange: (filters: AuditFilters) => void
}

export function AuditFiltersForm({ filters, onChange }: AuditFiltersFormProps): ReactNode {
  const field = (name: keyof AuditFilters, type = 'text') => ({
    label: texts.filters[name],
    type,
    value: filters[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange({ ...filters, [name]: currentTarget.value }),
  })
  return (
    <search aria-label={texts.search}>
      <TextInput {...field('q', 'search')} placeholder={texts.searchHint} />
      <details>
        <summary>{texts.moreFilters}</summary>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="xs">
          <TextInput {...field('subject')} />
          <TextInput {...field('agent')} />
          <TextInput {...field('action')} placeholder="key.create" />
          <NativeSelect
            label={texts.filters.outcome}
            value={filters.outcome}
            onChange={({ currentTarget }) => onChange({ ...filters, outcome: currentTarget.value })}
            data={[
              { value: '', label: texts.anyOutcome },
              { value: 'ok', label: texts.ok },
              { value: 'refused', label: texts.refused },
            ]}
          />
          <TextInput {...field('since', 'datetime-local')} />
          <TextInput {...field('until', 'datetime-local')} />
        </SimpleGrid>
      </details>
    </search>
  )
}
