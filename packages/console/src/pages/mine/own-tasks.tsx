import { Anchor, Button, Drawer, Group, Table } from '@mantine/core'
import { asString, type JsonObject } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../app/address.js'
import { requestJson } from '../../app/api.js'
import { useLoad } from '../../app/use-load.js'
import { CodeBlock } from '../../parts/code-block.js'
import { Failure } from '../../parts/failure.js'
import { Loading } from '../../parts/loading.js'
import { Time } from '../../parts/time.js'
import { strings } from '../../strings.js'
import { OwnList, useAction, useList } from './own-list.js'

const texts = strings.mine

/** The person's deferred calls, with their results. */
export function OwnTasks(): ReactNode {
  const list = useList('/me/tasks', 'tasks')
  const { error, run } = useAction(list.reload)
  const [shown, setShown] = useState<string>()
  const row = (task: JsonObject): ReactNode => {
    const id = String(task.taskId)
    const agent = asString(task.agent) ?? ''
    const isOpen = task.status === 'pending' || task.status === 'running'
    return (
      <Table.Tr key={id}>
        <Table.Td>
          <Anchor component={Link} href={addressOf.agent(agent)}>
            {agent}
          </Anchor>
        </Table.Td>
        <Table.Td>{asString(task.operation)}</Table.Td>
        <Table.Td>{asString(task.status)}</Table.Td>
        <Table.Td>
          <Time at={task.updatedAt} />
        </Table.Td>
        <Table.Td>
          <Group gap={4} wrap="nowrap">
            <Button size="compact-sm" variant="subtle" onClick={() => setShown(id)}>
              {texts.result}
            </Button>
            {isOpen && (
              <Button
                size="compact-sm"
                variant="subtle"
                color="red"
                onClick={() => run(() => requestJson(`/tasks/${encodeURIComponent(id)}`, { method: 'DELETE' }))}
              >
                {texts.cancel}
              </Button>
            )}
          </Group>
        </Table.Td>
      </Table.Tr>
    )
  }
  return (
    <>
      <OwnList
        title={texts.tasks}
        columns={[texts.agent, texts.operation, texts.status, texts.changed, texts.actions]}
        empty={texts.noTasks}
        list={list}
        error={error}
        row={row}
      />
      <Drawer
        opened={shown !== undefined}
        onClose={() => setShown(undefined)}
        title={texts.result}
        position="right"
        closeButtonProps={{ 'aria-label': texts.close }}
      >
        {shown !== undefined && <TaskResult id={shown} />}
      </Drawer>
    </>
  )
}

function TaskResult({ id }: { readonly id: string }): ReactNode {
  const { value, error, reload } = useLoad(id, (signal) => requestJson(`/tasks/${encodeURIComponent(id)}`, { signal }))
  if (error !== undefined) return <Failure error={error} onRetry={reload} />
  return value === undefined ? <Loading /> : <CodeBlock text={JSON.stringify(value, null, 2)} label={texts.result} />
}
