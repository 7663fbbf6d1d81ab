import { Card, NativeSelect, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { JsonObject, JsonValue } from '@switchboard/protocol/json'
import { lazy, type ReactNode, Suspense, useMemo, useState } from 'react'
import { numberAt, numbersAt, objectsAt, textAt } from '../../../app/read-json.js'
import { Loading } from '../../../parts/loading.js'
import { strings } from '../../../strings.js'
import type { Line } from './line-chart.js'

const { overview: texts } = strings.operate

/** uPlot is loaded with the first chart. */
const LineChart = lazy(async () => ({ default: (await import('./line-chart.js')).LineChart }))

const ACTIONS = ['search', 'lookup', 'invoke', 'register', 'agent'] as const
/** Lines of errors and outcomes; the rarer ones are in the table below the chart only. */
const MAX_LINES = 5

/** Charts of the history: requests, durations, calls and errors. */
export function HistoryCharts({ history }: { readonly history: JsonValue | undefined }): ReactNode {
  const points = useMemo(() => objectsAt(history, 'points'), [history])
  const [action, setAction] = useState<string>('search')
  const requests = ACTIONS.filter((name) => name !== 'agent').map((name) =>
    lineOf(points, texts.actions[name], (point) => numberAt(point, 'counts', name) ?? 0),
  )
  const latency = (['p50', 'p95', 'p99'] as const).map((name) =>
    lineOf(points, name, (point) => numberAt(point, 'latency_ms', action, name) ?? null),
  )
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
      <ChartCard title={texts.requests} points={points} lines={requests} />
      <ChartCard
        title={texts.latency}
        points={points}
        lines={latency}
        tools={
          <NativeSelect
            aria-label={texts.latencyOf}
            value={action}
            onChange={({ currentTarget }) => setAction(currentTarget.value)}
            data={ACTIONS.map((name) => ({ value: name, label: texts.actions[name] }))}
          />
        }
      />
      <ChartCard title={texts.calls} points={points} lines={namedLines(points, 'calls')} />
      <ChartCard title={texts.errors} points={points} lines={namedLines(points, 'errors')} />
    </SimpleGrid>
  )
}

const lineOf = (points: readonly JsonObject[], label: string, read: (point: JsonObject) => number | null): Line => ({
  label,
  values: points.map(read),
})

/** A line for each name that occurs, the most frequent first. */
function namedLines(points: readonly JsonObject[], member: 'calls' | 'errors'): Line[] {
  const totals = new Map<string, number>()
  for (const point of points)
    for (const [name, value] of numbersAt(point, member)) totals.set(name, (totals.get(name) ?? 0) + value)
  return [...totals]
    .sort(([, a], [, b]) => b - a)
    .map(([name]) => lineOf(points, name, (point) => numberAt(point, member, name) ?? 0))
}

interface ChartCardProps {
  readonly title: string
  readonly points: readonly JsonObject[]
  readonly lines: readonly Line[]
  readonly tools?: ReactNode
}

function ChartCard({ title, points, lines, tools }: ChartCardProps): ReactNode {
  const times = useMemo(() => points.map((point) => Date.parse(textAt(point, 'at') ?? '') / 1000), [points])
  const isEmpty = lines.every(({ values }) => values.every((value) => value === null || value === 0))
  return (
    <Card withBorder padding="sm" component="figure" m={0} aria-label={title}>
      <Stack gap="xs">
        <Title order={3} size="h5">
          {title}
        </Title>
        {tools}
        {isEmpty ? (
          <Text c="dimmed">{texts.nothingHappened}</Text>
        ) : (
          <>
            <Suspense fallback={<Loading />}>
              <LineChart times={times} lines={lines.slice(0, MAX_LINES)} />
            </Suspense>
            <Numbers title={title} times={times} lines={lines} />
          </>
        )}
      </Stack>
    </Card>
  )
}

/** The same as a table, for those who cannot see the chart or want the numbers; newest first. */
function Numbers({
  title,
  times,
  lines,
}: {
  title: string
  times: readonly number[]
  lines: readonly Line[]
}): ReactNode {
  const [isOpen, { toggle }] = useDisclosure()
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => currentTarget.open !== isOpen && toggle()}>
      <summary>{texts.numbers}</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: so that the box can be scrolled with the keyboard.
        <section className="scroll-box numbers" aria-label={title} tabIndex={0}>
          <Table aria-label={title}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">{texts.time}</Table.Th>
                {lines.map(({ label }) => (
                  <Table.Th key={label} scope="col">
                    {label}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {times
                .map((time, i) => (
                  <Table.Tr key={time}>
                    <Table.Td>{new Date(time * 1000).toLocaleTimeString()}</Table.Td>
                    {lines.map(({ label, values }) => (
                      <Table.Td key={label}>{values[i]?.toLocaleString() ?? '–'}</Table.Td>
                    ))}
                  </Table.Tr>
                ))
                .toReversed()}
            </Table.Tbody>
          </Table>
        </section>
      )}
    </details>
  )
}
