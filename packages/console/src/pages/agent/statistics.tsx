import { Stack, Table, Text } from '@mantine/core'
import { toDisplayText } from '@switchboard/client/discovery'
import { isObject, type JsonObject } from '@switchboard/protocol/json'
import type { ReactNode } from 'react'
import { strings } from '../../strings.js'
import { Section } from './section.js'

const { statistics: words } = strings
const UNKNOWN = '–'

/** Calls, success and latency of each operation. The directory shows them to the owner and to operators only. */
export function Statistics({ verification: { reputation } }: { readonly verification: JsonObject }): ReactNode {
  if (!isObject(reputation)) return null
  const { rating, ratings, operations, calls } = reputation
  const rows = isObject(operations) ? Object.entries(operations).filter(([, row]) => isObject(row)) : []
  return (
    <Section title={words.title}>
      <Stack gap="xs">
        <Text size="sm" c="dimmed">
          {words.note}
        </Text>
        {typeof calls === 'number' && calls > 0 ? (
          <Table withTableBorder>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.operation}</Table.Th>
                <Table.Th ta="right">{words.calls}</Table.Th>
                <Table.Th ta="right">{words.success}</Table.Th>
                <Table.Th ta="right">{words.latency}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(([name, row]) => (
                <Row key={name} name={toDisplayText(name)} row={isObject(row) ? row : {}} />
              ))}
              <Row name={words.all} row={reputation} />
            </Table.Tbody>
          </Table>
        ) : (
          <Text size="sm">{words.none}</Text>
        )}
        {typeof rating === 'number' && typeof ratings === 'number' && (
          <Text size="sm">{words.rating(rating, ratings)}</Text>
        )}
      </Stack>
    </Section>
  )
}

function Row({ name, row }: { readonly name: string; readonly row: JsonObject }): ReactNode {
  const { calls, success_rate: success, latency_ms: latency } = row
  return (
    <Table.Tr>
      <Table.Td>{name}</Table.Td>
      <Table.Td ta="right">{typeof calls === 'number' ? words.count(calls) : UNKNOWN}</Table.Td>
      <Table.Td ta="right">{typeof success === 'number' ? words.percent(success) : UNKNOWN}</Table.Td>
      <Table.Td ta="right">{typeof latency === 'number' ? words.milliseconds(latency) : UNKNOWN}</Table.Td>
    </Table.Tr>
  )
}
