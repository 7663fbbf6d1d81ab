import { Badge, Code, Stack, Switch, Text, TextInput } from '@mantine/core'
import type { JsonObject, JsonValue } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { requestJson } from '../../app/api.js'
import { objectsAt, textAt, valueAt } from '../../app/read-json.js'
import { useLoad } from '../../app/use-load.js'
import { RowTable } from '../../parts/row-table.js'
import { strings } from '../../strings.js'
import { Section } from './section.js'

const { settings: texts } = strings.operate

/** The settings in force and where each comes from; they are changed outside of the console. */
export function SettingsSection(): ReactNode {
  const [filter, setFilter] = useState('')
  const [onlyChanged, setOnlyChanged] = useState(false)
  const loaded = useLoad('settings', async (signal) =>
    objectsAt(await requestJson('/admin/settings', { signal }), 'settings'),
  )
  const part = filter.trim().toLowerCase()
  const isShown = (setting: JsonObject): boolean =>
    (textAt(setting, 'key') ?? '').toLowerCase().includes(part) &&
    (!onlyChanged || textAt(setting, 'source') !== 'default')
  return (
    <Section title={strings.operate.sections.settings} intro={texts.intro} loaded={loaded}>
      {(settings) => (
        <>
          <TextInput
            type="search"
            label={texts.filter}
            value={filter}
            onChange={({ currentTarget }) => setFilter(currentTarget.value)}
          />
          <Switch
            label={texts.onlyChanged}
            checked={onlyChanged}
            onChange={({ currentTarget }) => setOnlyChanged(currentTarget.checked)}
          />
          <RowTable
            label={strings.operate.sections.settings}
            rows={settings.filter(isShown)}
            keyOf={(setting) => textAt(setting, 'key') ?? ''}
            empty={onlyChanged && part === '' ? texts.allDefaults : strings.common.noMatch}
            columns={[
              {
                label: texts.key,
                show: (setting) => (
                  <Stack gap={2} align="flex-start">
                    <Code>{textAt(setting, 'key')}</Code>
                    {textAt(setting, 'description') !== undefined && (
                      <Text size="xs">{textAt(setting, 'description')}</Text>
                    )}
                  </Stack>
                ),
              },
              { label: texts.value, show: (setting) => <Value value={valueAt(setting, 'value')} /> },
              { label: texts.default, show: (setting) => <Value value={valueAt(setting, 'default')} /> },
              { label: texts.source, show: (setting) => <Source setting={setting} /> },
            ]}
          />
        </>
      )}
    </Section>
  )
}

function Value({ value }: { readonly value: JsonValue | undefined }): ReactNode {
  if (value === null || value === undefined)
    return (
      <Text size="sm" c="dimmed">
        {texts.notSet}
      </Text>
    )
  return <Code>{typeof value === 'string' ? value : JSON.stringify(value)}</Code>
}

function Source({ setting }: { readonly setting: JsonObject }): ReactNode {
  const source = textAt(setting, 'source') ?? 'default'
  const setBy = textAt(setting, 'set_by')
  return (
    <Stack gap={2} align="flex-start">
      <Badge variant="light" color={source === 'default' ? 'gray' : 'cyan'} tt="none">
        {texts.sources[source] ?? source}
      </Badge>
      {setBy !== undefined && <Text size="xs">{setBy}</Text>}
    </Stack>
  )
}
