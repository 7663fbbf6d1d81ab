import { Card, SimpleGrid, Text, Title } from '@mantine/core'
import type { JsonValue } from '@switchboard/protocol/json'
import type { ReactNode } from 'react'
import { numberAt, numbersAt, textAt } from '../../../app/read-json.js'
import { strings } from '../../../strings.js'

const { overview: texts } = strings.operate

const MIB = 1024 * 1024

/** What is the case now, in groups of a few numbers. */
export function StateTiles({ state }: { readonly state: JsonValue | undefined }): ReactNode {
  const count = (...path: string[]): string => (numberAt(state, ...path) ?? 0).toLocaleString()
  const size = (...path: string[]): string => texts.megabytes(Math.round((numberAt(state, ...path) ?? 0) / MIB))
  const store = textAt(state, 'store', 'state') ?? ''
  const delay = numberAt(state, 'process', 'event_loop_delay_ms', 'p99')
  const counted = (...path: string[]): string =>
    numbersAt(state, ...path)
      .map(([name, value]) => `${value.toLocaleString()} ${name}`)
      .join(', ') || '0'
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
      <Tile
        title={texts.store}
        value={texts.storeStates[store] ?? store}
        isBad={store !== 'ok'}
        facts={[
          [texts.kind, texts.storeKinds[textAt(state, 'store', 'kind') ?? ''] ?? ''],
          [texts.replicas, count('replicas')],
          [texts.waitingWrites, count('queues', 'writes')],
          ...(store === 'ok' ? [] : [[texts.reason, textAt(state, 'store', 'reason') ?? ''] as const]),
        ]}
      />
      <Tile
        title={texts.agents}
        value={count('agents', 'total')}
        facts={[
          [texts.byStatus, counted('agents', 'by_status')],
          [texts.byVisibility, counted('agents', 'by_visibility')],
          [texts.copies, count('agents', 'copies')],
          [texts.quarantined, count('agents', 'quarantined')],
        ]}
      />
      <Tile
        title={texts.index}
        value={texts.pending(
          (numberAt(state, 'index', 'pending_words') ?? 0) + (numberAt(state, 'index', 'pending_vectors') ?? 0),
        )}
        facts={[
          [texts.pendingWords, count('index', 'pending_words')],
          [texts.pendingVectors, count('index', 'pending_vectors')],
          [texts.indexSize, `${size('index', 'word_bytes')} + ${size('index', 'vector_bytes')}`],
        ]}
      />
      <Tile
        title={texts.feed}
        value={texts.revision(numberAt(state, 'feed', 'revision') ?? 0)}
        isBad={(numberAt(state, 'feed', 'peers_failing') ?? 0) > 0}
        facts={[
          [texts.lag, texts.seconds(numberAt(state, 'feed', 'lag_seconds') ?? 0)],
          [texts.peersOk, count('feed', 'peers_ok')],
          [texts.peersFailing, count('feed', 'peers_failing')],
        ]}
      />
      <Tile
        title={texts.queues}
        value={texts.inProgress(numberAt(state, 'calls_in_progress') ?? 0)}
        facts={[
          [texts.waitingCalls, count('queues', 'calls')],
          [texts.tasks, count('queues', 'tasks')],
          [texts.embedding, count('queues', 'embedding')],
          [texts.connections, count('connections')],
        ]}
      />
      <Tile
        title={texts.process}
        value={size('process', 'memory', 'rss')}
        facts={[
          [texts.heap, `${size('process', 'memory', 'heap_used')} / ${size('process', 'memory', 'heap_total')}`],
          [texts.eventLoop, delay === undefined ? '–' : texts.milliseconds(delay)],
          [texts.uptime, texts.duration(numberAt(state, 'process', 'uptime_seconds') ?? 0)],
          [texts.version, `${textAt(state, 'version') ?? ''} (Node ${textAt(state, 'process', 'node') ?? ''})`],
        ]}
      />
    </SimpleGrid>
  )
}

interface TileProps {
  readonly title: string
  readonly value: string
  readonly isBad?: boolean
  readonly facts: readonly (readonly [label: string, value: string])[]
}

function Tile({ title, value, isBad = false, facts }: TileProps): ReactNode {
  return (
    <Card withBorder padding="sm" component="article" aria-label={title}>
      <Title order={3} size="h5">
        {title}
      </Title>
      <Text size="lg" fw={700} {...(isBad && { c: 'var(--mantine-color-error)' })}>
        {value}
      </Text>
      <dl className="tile-facts">
        {facts.map(([label, fact]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{fact}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
