import { ScrollArea, Stack, Table, Text, Title } from '@mantine/core'
import { asObjects, isObject, type JsonObject } from '@switchboard/protocol/json'
import { type ReactNode, useId, useState } from 'react'
import { requestJson } from '../../app/api.js'
import { type Loaded, useLoad } from '../../app/use-load.js'
import { Failure } from '../../parts/failure.js'
import { Loading } from '../../parts/loading.js'

/** Loads the list in a member of a response, such as `keys` of GET /me/keys. */
export function useList(path: string, member: string): Loaded<{ items: readonly JsonObject[]; count: number }> {
  return useLoad(path, async (signal) => {
    const body = await requestJson(path, { signal })
    const items = isObject(body) ? asObjects(body[member]) : []
    return { items, count: isObject(body) && typeof body.count === 'number' ? body.count : items.length }
  })
}

/** Runs an action and then loads the list again; remembers why it failed. */
export function useAction(reload: () => void): { readonly error: unknown; run(action: () => Promise<unknown>): void } {
  const [error, setError] = useState<unknown>()
  return {
    error,
    run(action) {
      setError(undefined)
      action().then(reload, setError)
    },
  }
}

/** A titled table, which scrolls sideways on small screens. */
export function OwnList(props: {
  readonly title: string
  readonly columns: readonly string[]
  readonly empty: string
  readonly list: Loaded<{ items: readonly JsonObject[] }>
  readonly error: unknown
  readonly row: (item: JsonObject) => ReactNode
  readonly children?: ReactNode
}): ReactNode {
  const { title, columns, empty, list, error, row, children } = props
  const heading = useId()
  return (
    <Stack component="section" aria-labelledby={heading} gap="xs">
      <Title order={2} size="h3" id={heading}>
        {title}
      </Title>
      {list.error !== undefined && <Failure error={list.error} onRetry={list.reload} />}
      {error !== undefined && <Failure error={error} />}
      {list.value === undefined && list.isLoading && <Loading />}
      {list.value?.items.length === 0 && <Text c="dimmed">{empty}</Text>}
      {list.value !== undefined && list.value.items.length > 0 && (
        <ScrollArea viewportProps={{ tabIndex: 0, 'aria-labelledby': heading, role: 'region' }}>
          <Table verticalSpacing="xs">
            <Table.Thead>
              <Table.Tr>
                {columns.map((column) => (
                  <Table.Th key={column}>{column}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>{list.value.items.map(row)}</Table.Tbody>
          </Table>
        </ScrollArea>
      )}
      {children}
    </Stack>
  )
}
