import {
  Badge,
  Button,
  Checkbox,
  Code,
  Group,
  Modal,
  NativeSelect,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import type { JsonObject, JsonValue } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { requestJson } from '../../app/api.js'
import { objectsAt, textAt, textsAt } from '../../app/read-json.js'
import { useLoad } from '../../app/use-load.js'
import { CodeBlock } from '../../parts/code-block.js'
import { ConfirmButton } from '../../parts/confirm-button.js'
import { RowTable } from '../../parts/row-table.js'
import { Time } from '../../parts/time.js'
import { strings } from '../../strings.js'
import { FormCard } from './form-card.js'
import { Section } from './section.js'
import { useAction } from './use-action.js'

const { keys: texts } = strings.operate
const { common } = strings

const SCOPES = ['discover', 'invoke', 'publish', 'ct', 'admin']
const DAY_S = 86_400

interface Key {
  readonly id: string
  readonly subject: string
  readonly scopes: readonly string[]
  readonly names: readonly string[]
  readonly createdAt: string | undefined
  readonly expiresAt: string | undefined
}

const readKey = (value: JsonObject): Key => ({
  id: textAt(value, 'id') ?? '',
  subject: textAt(value, 'subject') ?? '',
  scopes: textsAt(value, 'scopes'),
  names: textsAt(value, 'names'),
  createdAt: textAt(value, 'created_at'),
  expiresAt: textAt(value, 'expires_at'),
})

/** API keys: create, look at, revoke. */
export function KeysSection(): ReactNode {
  const [filter, setFilter] = useState('')
  const loaded = useLoad('keys', async (signal) =>
    objectsAt(await requestJson('/admin/keys', { signal }), 'keys').map(readKey),
  )
  const part = filter.trim().toLowerCase()
  const isShown = ({ id, subject }: Key): boolean => `${id} ${subject}`.toLowerCase().includes(part)
  return (
    <Section
      title={strings.operate.sections.keys}
      intro={texts.intro}
      loaded={loaded}
      tools={<CreateKey onCreated={loaded.reload} />}
    >
      {(keys) => (
        <>
          <TextInput
            type="search"
            label={texts.filter}
            value={filter}
            onChange={({ currentTarget }) => setFilter(currentTarget.value)}
          />
          <RowTable
            label={strings.operate.sections.keys}
            rows={keys.filter(isShown)}
            keyOf={({ id }) => id}
            empty={keys.length === 0 ? texts.none : common.noMatch}
            columns={[
              {
                label: texts.subject,
                show: ({ subject }) => (
                  <Text size="sm" fw={600}>
                    {subject}
                  </Text>
                ),
              },
              { label: texts.scopes, show: ({ scopes }) => <Scopes scopes={scopes} /> },
              { label: texts.names, show: ({ names }) => (names.length === 0 ? texts.allNames : names.join(', ')) },
              { label: texts.created, show: ({ createdAt }) => <Time at={createdAt} /> },
              { label: texts.expires, show: ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : texts.never) },
              { label: texts.id, show: ({ id }) => <Code>{id}</Code> },
              {
                label: common.actions,
                show: ({ id, subject }) => (
                  <ConfirmButton
                    label={texts.revoke}
                    about={`${subject}, ${id}`}
                    question={texts.revokeQuestion(subject)}
                    consequence={texts.revokeConsequence}
                    onConfirm={async () => {
                      await requestJson(`/admin/keys/${encodeURIComponent(id)}`, { method: 'DELETE' })
                      loaded.reload()
                    }}
                  />
                ),
              },
            ]}
          />
        </>
      )}
    </Section>
  )
}

export const Scopes = ({ scopes }: { readonly scopes: readonly string[] }): ReactNode => (
  <Group gap={4}>
    {scopes.map((scope) => (
      <Badge key={scope} variant="default" tt="none">
        {scope}
      </Badge>
    ))}
  </Group>
)

function CreateKey({ onCreated }: { readonly onCreated: () => void }): ReactNode {
  const [subject, setSubject] = useState('')
  const [scopes, setScopes] = useState<string[]>(['discover', 'invoke'])
  const [names, setNames] = useState('')
  const [days, setDays] = useState('')
  const [created, setCreated] = useState<JsonValue>()
  const action = useAction()
  const patterns = names.split(/[\s,]+/).filter((name) => name !== '')

  const create = async (): Promise<void> => {
    const body = {
      subject: subject.trim(),
      scopes,
      ...(patterns.length > 0 && { names: patterns }),
      ...(days !== '' && { expires_in: Number(days) * DAY_S }),
    }
    const isDone = await action.run(async () => setCreated(await requestJson('/admin/keys', { method: 'POST', body })))
    if (!isDone) return
    setSubject('')
    onCreated()
  }

  return (
    <>
      <FormCard title={texts.create} submit={texts.create} action={action} onSubmit={create}>
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput
            required
            label={texts.subject}
            description={texts.subjectHint}
            value={subject}
            onChange={({ currentTarget }) => setSubject(currentTarget.value)}
          />
          <TextInput
            label={texts.names}
            description={texts.namesHint}
            value={names}
            onChange={({ currentTarget }) => setNames(currentTarget.value)}
          />
        </SimpleGrid>
        <Checkbox.Group label={texts.scopes} value={scopes} onChange={setScopes}>
          <Group mt={4}>
            {SCOPES.map((scope) => (
              <Checkbox key={scope} value={scope} label={`${scope}: ${texts.scopeHints[scope] ?? ''}`} />
            ))}
          </Group>
        </Checkbox.Group>
        <NativeSelect
          label={texts.lifetime}
          value={days}
          onChange={({ currentTarget }) => setDays(currentTarget.value)}
          data={texts.lifetimes.map(([value, label]) => ({ value, label }))}
          maw={240}
        />
      </FormCard>
      <Modal
        opened={created !== undefined}
        onClose={() => setCreated(undefined)}
        title={texts.createdTitle(textAt(created, 'subject') ?? '')}
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
      >
        <Stack>
          <Text>{texts.shownOnce}</Text>
          <CodeBlock label={texts.key} text={textAt(created, 'key') ?? ''} />
          <Button onClick={() => setCreated(undefined)}>{texts.stored}</Button>
        </Stack>
      </Modal>
    </>
  )
}
