import { Anchor, Button, Group, Table } from '@mantine/core'
import { toDisplayText } from '@switchboard/client/discovery'
import { asObjects, asString, type JsonObject } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../app/address.js'
import { requestJson } from '../../app/api.js'
import { ConfirmButton } from '../../parts/confirm-button.js'
import { Time } from '../../parts/time.js'
import { strings } from '../../strings.js'
import { OwnList, useAction, useList } from './own-list.js'

const texts = strings.mine

/** Agents that are shown at first; a button shows as many again, up to the most that the directory lists at once. */
const STEP = 20
const MOST = 100

/** The agents that the person has published, in every state. */
export function OwnAgents(): ReactNode {
  const [top, setTop] = useState(STEP)
  const list = useList(`/me/agents?top=${top}`, 'agents')
  const { error, run } = useAction(list.reload)

  const row = (agent: JsonObject): ReactNode => {
    const id = String(agent.id)
    const visibility = asString(agent.visibility) ?? 'public'
    return (
      <Table.Tr key={id}>
        <Table.Td>
          <Anchor component={Link} href={addressOf.agent(id)}>
            {toDisplayText(asString(agent.name) ?? id)}
          </Anchor>
          {asObjects(agent.warnings).map(({ message }) => (
            <div key={String(message)}>⚠ {toDisplayText(String(message))}</div>
          ))}
        </Table.Td>
        <Table.Td>{asString(agent.status)}</Table.Td>
        <Table.Td>{texts.visibilities[visibility] ?? visibility}</Table.Td>
        <Table.Td>{agent.expires_at === undefined ? texts.never : <Time at={agent.expires_at} />}</Table.Td>
        <Table.Td>
          <Group gap={4} wrap="nowrap">
            <Button
              component={Link}
              href={`${addressOf.publish()}?${new URLSearchParams({ agent: id, format: asString(agent.format) ?? 'aidip' })}`}
              size="compact-sm"
              variant="subtle"
            >
              {texts.edit}
            </Button>
            <ConfirmButton
              label={texts.remove}
              question={texts.confirmRemove(id)}
              onConfirm={() => run(() => requestJson(`/agents/${encodeURIComponent(id)}`, { method: 'DELETE' }))}
            />
          </Group>
        </Table.Td>
      </Table.Tr>
    )
  }
  return (
    <OwnList
      title={texts.agents}
      columns={[texts.name, texts.status, texts.visibility, texts.expires, texts.actions]}
      empty={texts.noAgents}
      list={list}
      error={error}
      row={row}
    >
      {list.value !== undefined && list.value.count > list.value.items.length && top < MOST && (
        <Button variant="default" onClick={() => setTop(Math.min(top + STEP, MOST))}>
          {texts.more}
        </Button>
      )}
    </OwnList>
  )
}
