import { Badge, Box, Button, Text } from '@mantine/core'
import type { JsonObject } from '@switchboard/protocol/json'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'
import { numberAt, textAt } from '../../../app/read-json.js'
import { Time } from '../../../parts/time.js'
import { strings } from '../../../strings.js'
import type { AuditLog } from './use-audit-log.js'

const { audit: texts } = strings.operate

/** Pixels of a row before it is measured, and rows that are rendered beyond those in view. */
const ROW_HEIGHT = 41
const OVERSCAN = 12

export interface AuditListProps {
  readonly log: AuditLog
  readonly onOpen: (entry: JsonObject) => void
}

/** The entries as a table of which only the rows in view exist; scrolling to its end loads more. */
export function AuditList({ log, onOpen }: AuditListProps): ReactNode {
  const { entries, hasMore, loadMore } = log
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: entries.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: OVERSCAN,
  })
  const items = rows.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: `loadMore` is new at every rendering.
  useEffect(() => {
    if (hasMore && last >= entries.length - 1) loadMore()
  }, [hasMore, last, entries.length])

  return (
    <>
      <Box
        ref={box}
        className="audit-box"
        role="table"
        aria-label={texts.entries}
        aria-rowcount={hasMore ? -1 : entries.length + 1}
      >
        <Box role="rowgroup" className="audit-head">
          <Box role="row" className="audit-row" aria-rowindex={1}>
            {texts.columns.map((label) => (
              <Text key={label} role="columnheader" fw={700} size="sm">
                {label}
              </Text>
            ))}
          </Box>
        </Box>
        <Box role="rowgroup" style={{ height: rows.getTotalSize(), position: 'relative' }}>
          {items.map(({ index, key, start }) => {
            const entry = entries[index]
            return (
              entry && (
                <Box
                  key={key}
                  ref={rows.measureElement}
                  data-index={index}
                  role="row"
                  aria-rowindex={index + 2}
                  className="audit-row"
                  style={{ position: 'absolute', top: 0, left: 0, right: 0, transform: `translateY(${start}px)` }}
                >
                  <Cells entry={entry} onOpen={onOpen} />
                </Box>
              )
            )
          })}
        </Box>
      </Box>
      <Text size="sm" c="dimmed" role="status">
        {log.isLoading ? strings.common.loading : texts.loaded(entries.length, hasMore)}
      </Text>
    </>
  )
}

function Cells({
  entry,
  onOpen,
}: {
  readonly entry: JsonObject
  readonly onOpen: (entry: JsonObject) => void
}): ReactNode {
  const action = textAt(entry, 'action') ?? ''
  const count = numberAt(entry, 'count')
  const isRefused = textAt(entry, 'outcome') === 'refused'
  return (
    <>
      <Text role="cell" size="sm">
        <Time at={textAt(entry, 'at')} />
      </Text>
      <Text role="cell" size="sm" fw={600}>
        {textAt(entry, 'actor')}
      </Text>
      <Box role="cell">
        <Button
          size="compact-xs"
          variant="subtle"
          onClick={() => onOpen(entry)}
          aria-label={texts.open(action, textAt(entry, 'actor') ?? '')}
        >
          {action}
        </Button>
        {isRefused && (
          <Badge color="red" variant="light" size="sm" tt="none">
            {texts.refused}
          </Badge>
        )}
      </Box>
      <Text role="cell" size="sm">
        {[textAt(entry, 'agent'), textAt(entry, 'detail'), count && texts.times(count)].filter(Boolean).join(' · ')}
      </Text>
    </>
  )
}
