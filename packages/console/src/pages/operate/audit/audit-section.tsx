import { Drawer, Stack, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { JsonObject } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { CodeBlock } from '../../../parts/code-block.js'
import { Failure } from '../../../parts/failure.js'
import { strings } from '../../../strings.js'
import { type AuditFilters, AuditFiltersForm, NO_FILTERS, toQuery } from './audit-filters.js'
import { AuditList } from './audit-list.js'
import { useAuditLog } from './use-audit-log.js'

const { audit: texts } = strings.operate

/** Milliseconds without a change after which the log is searched: a search may read all of it. */
const PAUSE_MS = 300

/** Who did what. */
export function AuditSection(): ReactNode {
  const [filters, setFilters] = useState<AuditFilters>(NO_FILTERS)
  const [query] = useDebouncedValue(toQuery(filters).toString(), PAUSE_MS)
  const [opened, setOpened] = useState<JsonObject>()
  const log = useAuditLog(query)
  const isEmpty = log.entries.length === 0 && !log.isLoading && log.error === undefined
  return (
    <Stack component="section" aria-label={strings.operate.sections.audit}>
      <div>
        <Title order={2}>{strings.operate.sections.audit}</Title>
        <Text c="dimmed" maw="70ch">
          {texts.intro}
        </Text>
      </div>
      <AuditFiltersForm filters={filters} onChange={setFilters} />
      {log.error !== undefined && <Failure error={log.error} onRetry={log.reload} />}
      {isEmpty ? (
        <Text c="dimmed">{query === '' ? texts.none : strings.common.noMatch}</Text>
      ) : (
        <AuditList log={log} onOpen={setOpened} />
      )}
      <Drawer
        opened={opened !== undefined}
        onClose={() => setOpened(undefined)}
        position="right"
        size="lg"
        title={texts.entry}
        closeButtonProps={{ 'aria-label': strings.common.close }}
      >
        <CodeBlock label={texts.entry} text={JSON.stringify(opened, undefined, 2) ?? ''} />
      </Drawer>
    </Stack>
  )
}
