import { Anchor, Badge, Button, Group, NativeSelect, SimpleGrid, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { JsonObject } from '@switchboard/protocol/json'
import { type ReactNode, useEffect, useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../app/address.js'
import { requestJson } from '../../app/api.js'
import { numberAt, objectsAt, textAt, valueAt } from '../../app/read-json.js'
import { useLoad } from '../../app/use-load.js'
import { RowTable } from '../../parts/row-table.js'
import { Time } from '../../parts/time.js'
import { strings } from '../../strings.js'
import { Section } from './section.js'
import { useAction } from './use-action.js'

const { health: texts } = strings.operate

const PAGE = 100
const PAUSE_MS = 250
const STATES = ['unreachable', 'failing', 'reachable', 'unchecked'] as const
type State = (typeof STATES)[number]
const COLORS: Readonly<Record<State, string>> = {
  unreachable: 'red',
  failing: 'orange',
  reachable: 'teal',
  unchecked: 'gray',
}
/** What the list shows at first: agents that someone should look at. */
const PROBLEMS = 'unreachable,failing'

interface AgentHealth {
  readonly id: string
  readonly owner: string
  readonly state: State
  readonly since: string | undefined
  readonly reason: string | undefined
  readonly calls: number | undefined
  readonly successRate: number | undefined
}

const readAgent = (value: JsonObject): AgentHealth => ({
  id: textAt(value, 'id') ?? '',
  owner: textAt(value, 'owner') ?? '',
  state: STATES.find((state) => state === value.state) ?? 'unchecked',
  since: textAt(value, 'since'),
  reason: textAt(value, 'reason'),
  calls: numberAt(value, 'calls'),
  successRate: numberAt(value, 'success_rate'),
})

/** Which agents cannot be reached, or fail when they are called. */
export function HealthSection(): ReactNode {
  const [state, setState] = useState(PROBLEMS)
  const [text, setText] = useState('')
  const [sent] = useDebouncedValue(text.trim(), PAUSE_MS)
  const query = new URLSearchParams({ limit: String(PAGE), ...(state && { state }), ...(sent && { q: sent }) })
  const load = (after: string | undefined, signal?: AbortSignal) =>
    requestJson(`/admin/health?${after === undefined ? query : `${query}&after=${encodeURIComponent(after)}`}`, {
      ...(signal && { signal }),
    })
  const loaded = useLoad(String(query), (signal) => load(undefined, signal))
  const [more, setMore] = useState<{ agents: AgentHealth[]; next: string | undefined }>()
  const action = useAction()
  // biome-ignore lint/correctness/useExhaustiveDependencies: further pages belong to the first one.
  useEffect(() => setMore(undefined), [loaded.value])

  const addPage = (next: string) =>
    action.run(async () => {
      const page = await load(next)
      const agents = objectsAt(page, 'agents').map(readAgent)
      setMore((old) => ({ agents: [...(old?.agents ?? []), ...agents], next: textAt(page, 'next') }))
    })

  const tools = (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <NativeSelect
        label={texts.state}
        value={state}
        onChange={({ currentTarget }) => setState(currentTarget.value)}
        data={[
          { value: PROBLEMS, label: texts.problems },
          { value: '', label: texts.all },
          ...STATES.map((value) => ({ value, label: texts.states[value] })),
        ]}
      />
      <TextInput
        type="search"
        label={texts.filter}
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
      />
    </SimpleGrid>
  )
  return (
    <Section title={strings.operate.sections.health} intro={texts.intro} loaded={loaded} tools={tools}>
      {(first) => {
        const rows = [...objectsAt(first, 'agents').map(readAgent), ...(more?.agents ?? [])]
        const next = more ? more.next : textAt(first, 'next')
        return (
          <>
            {valueAt(first, 'checked') === false && <Text size="sm">{texts.notChecked}</Text>}
            <Group gap="xs" role="status">
              {STATES.map((name) => (
                <Badge key={name} color={COLORS[name]} variant="light" tt="none">
                  {texts.counted(texts.states[name], numberAt(first, 'counts', name) ?? 0)}
                </Badge>
              ))}
            </Group>
            <RowTable
              label={strings.operate.sections.health}
              rows={rows}
              keyOf={({ id }) => id}
              empty={state === PROBLEMS && sent === '' ? texts.noProblems : strings.common.noMatch}
              columns={[
                {
                  label: texts.agent,
                  show: ({ id }) => (
                    <Anchor component={Link} href={addressOf.agent(id)} size="sm">
                      {id}
                    </Anchor>
                  ),
                },
                {
                  label: texts.state,
                  show: (agent) => (
                    <Badge color={COLORS[agent.state]} variant="light" tt="none">
                      {texts.states[agent.state]}
                    </Badge>
                  ),
                },
                { label: texts.since, show: ({ since }) => <Time at={since} /> },
                { label: texts.lastError, show: ({ reason }) => reason ?? '–' },
                {
                  label: texts.calls,
                  show: ({ calls, successRate }) =>
                    calls === undefined
                      ? '–'
                      : texts.succeeded(Math.round(calls), Math.round((successRate ?? 0) * 100)),
                },
                { label: texts.owner, show: ({ owner }) => owner },
              ]}
            />
            {next !== undefined && (
              <Button variant="default" loading={action.isPending} onClick={() => void addPage(next)}>
                {texts.more}
              </Button>
            )}
          </>
        )
      }}
    </Section>
  )
}
