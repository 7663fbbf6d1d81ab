import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import type { JsonValue } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { requestJson } from '../../../app/api.js'
import { usePolled } from '../../../app/use-polled.js'
import { strings } from '../../../strings.js'
import { Section } from '../section.js'
import { HistoryCharts } from './history-charts.js'
import { StateTiles } from './state-tiles.js'

const { overview: texts } = strings.operate

const REFRESH_MS = 10_000

/** Hours that are shown, and seconds of one point: about a hundred points each. */
const RANGES = { 1: 60, 6: 240, 24: 900 } as const
type Range = keyof typeof RANGES

interface Overview {
  readonly state: JsonValue | undefined
  readonly history: JsonValue | undefined
}

/** The state of the replica that responds, and what happened there. */
export function OverviewSection(): ReactNode {
  const [range, setRange] = useState<Range>(1)
  const loaded = usePolled(`overview ${range}`, REFRESH_MS, async (signal): Promise<Overview> => {
    const since = new Date(Date.now() - range * 3_600_000).toISOString()
    const [state, history] = await Promise.all([
      requestJson('/admin/overview', { signal }),
      requestJson(`/admin/history?since=${since}&step=${RANGES[range]}`, { signal }),
    ])
    return { state, history }
  })
  return (
    <Section title={strings.operate.sections.overview} intro={texts.intro} loaded={loaded}>
      {({ state, history }) => (
        <Stack>
          <StateTiles state={state} />
          <Group>
            <SegmentedControl
              aria-label={texts.range}
              value={String(range)}
              onChange={(value) => setRange(value === '24' ? 24 : value === '6' ? 6 : 1)}
              data={Object.keys(RANGES).map((hours) => ({ value: hours, label: texts.hours(Number(hours)) }))}
            />
            <Text size="sm" c="dimmed">
              {texts.historyNote}
            </Text>
          </Group>
          <HistoryCharts history={history} />
        </Stack>
      )}
    </Section>
  )
}
