import { NativeSelect, NumberInput, SimpleGrid, Text, TextInput, Title } from '@mantine/core'
import type { JsonObject } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { requestJson } from '../../app/api.js'
import { numberAt, numbersAt, objectsAt, textAt } from '../../app/read-json.js'
import { usePolled } from '../../app/use-polled.js'
import { ConfirmButton } from '../../parts/confirm-button.js'
import { RowTable } from '../../parts/row-table.js'
import { Time } from '../../parts/time.js'
import { strings } from '../../strings.js'
import { FormCard } from './form-card.js'
import { Section } from './section.js'
import { useAction } from './use-action.js'

const { limits: texts } = strings.operate

const REFRESH_MS = 10_000
const KINDS = ['subject', 'scope', 'agent'] as const
type Kind = (typeof KINDS)[number]
const OF_AGENTS = ['concurrent_calls', 'calls_per_day']
const NAMES = Object.keys(texts.names)

const nameOf = (limit: string): string => texts.names[limit] ?? limit
const toNumbers = (values: readonly [string, number][]): string =>
  values.map(([name, value]) => texts.limitIs(nameOf(name), value)).join('; ')

/** Who the rule or refusal is about. */
function targetOf(value: JsonObject): string {
  const kind = ['subject', 'scope', 'agent', 'address'].find((name) => textAt(value, name) !== undefined)
  return kind === undefined ? texts.anonymous : texts.targets(kind, textAt(value, kind) ?? '')
}

/** Limits, and who reaches them. */
export function LimitsSection(): ReactNode {
  const loaded = usePolled('limits', REFRESH_MS, async (signal) => {
    const [limits, refused] = await Promise.all([
      requestJson('/admin/limits', { signal }),
      requestJson('/admin/limits/refused?limit=200', { signal }),
    ])
    return { limits, refused }
  })
  return (
    <Section title={strings.operate.sections.limits} intro={texts.intro} loaded={loaded}>
      {({ limits, refused }) => (
        <>
          <Title order={3}>{texts.refused}</Title>
          <RowTable
            label={texts.refused}
            rows={objectsAt(refused, 'refused')}
            keyOf={(row) => `${textAt(row, 'limit')} ${targetOf(row)}`}
            empty={texts.noneRefused}
            columns={[
              { label: texts.who, show: targetOf },
              { label: texts.limit, show: (row) => nameOf(textAt(row, 'limit') ?? '') },
              { label: texts.times, show: (row) => numberAt(row, 'times')?.toLocaleString() },
              { label: texts.last, show: (row) => <Time at={textAt(row, 'last_at')} /> },
            ]}
          />
          {(numberAt(refused, 'others') ?? 0) > 0 && <Text>{texts.others(numberAt(refused, 'others') ?? 0)}</Text>}
          <Text size="sm" c="dimmed">
            {texts.refusedNote}
          </Text>
          <Title order={3}>{texts.set}</Title>
          <RowTable
            label={texts.set}
            rows={objectsAt(limits, 'limits')}
            keyOf={(row) => textAt(row, 'id') ?? ''}
            empty={texts.noneSet}
            columns={[
              { label: texts.who, show: targetOf },
              { label: texts.limit, show: (row) => toNumbers(numbersAt(row, 'limits')) },
              { label: texts.used, show: (row) => toNumbers(numbersAt(row, 'used')) || '–' },
              {
                label: strings.common.actions,
                show: (row) => (
                  <ConfirmButton
                    label={texts.remove}
                    about={targetOf(row)}
                    question={texts.removeQuestion(targetOf(row))}
                    consequence={texts.removeConsequence}
                    onConfirm={async () => {
                      await requestJson(`/admin/limits/${encodeURIComponent(textAt(row, 'id') ?? '')}`, {
                        method: 'DELETE',
                      })
                      loaded.reload()
                    }}
                  />
                ),
              },
            ]}
          />
          <SetLimit rules={objectsAt(limits, 'limits')} onSet={loaded.reload} />
          <Title order={3}>{texts.defaults}</Title>
          <RowTable
            label={texts.defaults}
            rows={numbersAt(limits, 'defaults')}
            keyOf={([name]) => name}
            empty={strings.common.noMatch}
            columns={[
              { label: texts.limit, show: ([name]) => nameOf(name) },
              { label: texts.value, show: ([, value]) => value.toLocaleString() },
            ]}
          />
        </>
      )}
    </Section>
  )
}

interface SetLimitProps {
  readonly rules: readonly JsonObject[]
  readonly onSet: () => void
}

function SetLimit({ rules, onSet }: SetLimitProps): ReactNode {
  const [kind, setKind] = useState<Kind>('subject')
  const [target, setTarget] = useState('')
  const [limit, setLimit] = useState('calls_per_day')
  const [value, setValue] = useState<number | string>(1000)
  const action = useAction()
  const offered = kind === 'agent' ? OF_AGENTS : NAMES
  const chosen = offered.includes(limit) ? limit : (offered[0] ?? '')

  const set = async (): Promise<void> => {
    const name = target.trim()
    // What is sent replaces the limits that the rule has.
    const known = rules.find((rule) => textAt(rule, kind) === name)
    const body = {
      [kind]: name,
      limits: { ...Object.fromEntries(numbersAt(known, 'limits')), [chosen]: Number(value) },
    }
    if (!(await action.run(() => requestJson('/admin/limits', { method: 'POST', body })))) return
    setTarget('')
    onSet()
  }

  return (
    <FormCard title={texts.setOne} submit={texts.setOne} action={action} onSubmit={set}>
      <Text size="sm">{texts.setHint}</Text>
      <SimpleGrid cols={{ base: 1, sm: 2, md: 4 }}>
        <NativeSelect
          label={texts.kind}
          value={kind}
          onChange={({ currentTarget }) => setKind(KINDS.find((name) => name === currentTarget.value) ?? 'subject')}
          data={KINDS.map((name) => ({ value: name, label: texts.kinds[name] }))}
        />
        <TextInput
          required
          label={texts.who}
          value={target}
          onChange={({ currentTarget }) => setTarget(currentTarget.value)}
        />
        <NativeSelect
          label={texts.limit}
          value={chosen}
          onChange={({ currentTarget }) => setLimit(currentTarget.value)}
          data={offered.map((name) => ({ value: name, label: nameOf(name) }))}
        />
        <NumberInput
          required
          label={texts.value}
          min={0}
          allowDecimal={false}
          value={value}
          onChange={setValue}
          hideControls
        />
      </SimpleGrid>
    </FormCard>
  )
}
