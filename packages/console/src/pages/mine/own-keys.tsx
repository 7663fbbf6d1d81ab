import { Code, Table } from '@mantine/core'
import { asStrings, type JsonObject } from '@switchboard/protocol/json'
import type { ReactNode } from 'react'
import { requestJson } from '../../app/api.js'
import { ConfirmButton } from '../../parts/confirm-button.js'
import { Time } from '../../parts/time.js'
import { strings } from '../../strings.js'
import { OwnList, useAction, useList } from './own-list.js'

const texts = strings.mine

/** The person's API keys; revoking the one of this session signs out. */
export function OwnKeys(): ReactNode {
  const list = useList('/me/keys', 'keys')
  const { error, run } = useAction(list.reload)
  const row = (key: JsonObject): ReactNode => (
    <Table.Tr key={String(key.id)}>
      <Table.Td>
        <Code>{String(key.id)}</Code>
      </Table.Td>
      <Table.Td>{asStrings(key.scopes).join(', ')}</Table.Td>
      <Table.Td>
        <Time at={key.created_at} />
      </Table.Td>
      <Table.Td>{key.expires_at === undefined ? texts.never : <Time at={key.expires_at} />}</Table.Td>
      <Table.Td>
        <ConfirmButton
          label={texts.revoke}
          question={texts.confirmRevoke}
          onConfirm={() =>
            run(() => requestJson(`/me/keys/${encodeURIComponent(String(key.id))}`, { method: 'DELETE' }))
          }
        />
      </Table.Td>
    </Table.Tr>
  )
  return (
    <OwnList
      title={texts.keys}
      columns={[texts.key, texts.scopes, texts.created, texts.expires, texts.actions]}
      empty={texts.noKeys}
      list={list}
      error={error}
      row={row}
    />
  )
}
