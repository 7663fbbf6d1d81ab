import { Checkbox, Group, NativeSelect, SimpleGrid, Text, TextInput } from '@mantine/core'
import type { JsonObject } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { requestJson } from '../../app/api.js'
import { objectsAt, textAt, textsAt } from '../../app/read-json.js'
import { useLoad } from '../../app/use-load.js'
import { ConfirmButton } from '../../parts/confirm-button.js'
import { RowTable } from '../../parts/row-table.js'
import { Time } from '../../parts/time.js'
import { strings } from '../../strings.js'
import { FormCard } from './form-card.js'
import { Scopes } from './keys-section.js'
import { Section } from './section.js'
import { useAction } from './use-action.js'

const { grants: texts } = strings.operate

interface Grant {
  readonly id: string
  readonly subject: string
  readonly scopes: readonly string[]
  readonly agent: string | undefined
  readonly tag: string | undefined
  readonly createdAt: string | undefined
}

const readGrant = (value: JsonObject): Grant => ({
  id: textAt(value, 'id') ?? '',
  subject: textAt(value, 'subject') ?? '',
  scopes: textsAt(value, 'scopes'),
  agent: textAt(value, 'agent'),
  tag: textAt(value, 'tag'),
  createdAt: textAt(value, 'created_at'),
})

const targetOf = ({ agent, tag }: Grant): string =>
  agent === undefined ? texts.ofTag(tag ?? '') : texts.ofAgent(agent)

/** Who may find or call agents that are not public. */
export function GrantsSection(): ReactNode {
  const loaded = useLoad('grants', async (signal) =>
    objectsAt(await requestJson('/admin/grants', { signal }), 'grants').map(readGrant),
  )
  return (
    <Section
      title={strings.operate.sections.grants}
      intro={texts.intro}
      loaded={loaded}
      tools={<CreateGrant onCreated={loaded.reload} />}
    >
      {(grants) => (
        <RowTable
          label={strings.operate.sections.grants}
          rows={grants}
          keyOf={({ id }) => id}
          empty={texts.none}
          columns={[
            {
              label: texts.subject,
              show: ({ subject }) => (
                <Text size="sm" fw={600}>
                  {subject}
                </Text>
              ),
            },
            { label: texts.target, show: targetOf },
            { label: texts.scopes, show: ({ scopes }) => <Scopes scopes={scopes} /> },
            { label: texts.created, show: ({ createdAt }) => <Time at={createdAt} /> },
            {
              label: strings.common.actions,
              show: (grant) => (
                <ConfirmButton
                  label={texts.revoke}
                  about={`${grant.subject}, ${targetOf(grant)}`}
                  question={texts.revokeQuestion(grant.subject)}
                  consequence={texts.revokeConsequence(targetOf(grant))}
                  onConfirm={async () => {
                    await requestJson(`/admin/grants/${encodeURIComponent(grant.id)}`, { method: 'DELETE' })
                    loaded.reload()
                  }}
                />
              ),
            },
          ]}
        />
      )}
    </Section>
  )
}

function CreateGrant({ onCreated }: { readonly onCreated: () => void }): ReactNode {
  const [subject, setSubject] = useState('')
  const [kind, setKind] = useState<'agent' | 'tag'>('agent')
  const [target, setTarget] = useState('')
  const [scopes, setScopes] = useState<string[]>(['discover', 'invoke'])
  const action = useAction()

  const create = async (): Promise<void> => {
    const body = { subject: subject.trim(), [kind]: target.trim(), scopes }
    if (!(await action.run(() => requestJson('/admin/grants', { method: 'POST', body })))) return
    setTarget('')
    onCreated()
  }

  return (
    <FormCard title={texts.create} submit={texts.create} action={action} onSubmit={create}>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput
          required
          label={texts.subject}
          value={subject}
          onChange={({ currentTarget }) => setSubject(currentTarget.value)}
        />
        <NativeSelect
          label={texts.kind}
          value={kind}
          onChange={({ currentTarget }) => setKind(currentTarget.value === 'tag' ? 'tag' : 'agent')}
          data={[
            { value: 'agent', label: texts.oneAgent },
            { value: 'tag', label: texts.allWithTag },
          ]}
        />
        <TextInput
          required
          label={kind === 'agent' ? texts.agentId : texts.tag}
          value={target}
          onChange={({ currentTarget }) => setTarget(currentTarget.value)}
        />
      </SimpleGrid>
      <Checkbox.Group label={texts.scopes} value={scopes} onChange={setScopes}>
        <Group mt={4}>
          <Checkbox value="discover" label={texts.mayFind} />
          <Checkbox value="invoke" label={texts.mayCall} />
        </Group>
      </Checkbox.Group>
    </FormCard>
  )
}
