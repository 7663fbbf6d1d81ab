import { Badge, Box, Group, Stack, Table, Text } from '@mantine/core'
import { toDisplayText } from '@switchboard/client/discovery'
import type { JsonObject } from '@switchboard/protocol/json'
import { type ReactNode, useMemo } from 'react'
import { strings } from '../../strings.js'
import { toFormSchema } from './schema/field.js'
import { type SchemaRow, toSchemaRows } from './schema/schema-rows.js'

const { schema: words } = strings

/** Pixels by which a nested member is indented. */
const INDENT = 14

/** A schema as a table that people can read; nested members are indented below the one that they belong to. */
export function SchemaTable({
  title,
  description,
}: {
  readonly title: string
  readonly description: JsonObject
}): ReactNode {
  const rows = useMemo(() => toSchemaRows(toFormSchema(description)), [description])
  return (
    <Stack gap={4}>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.anything}
        </Text>
      ) : (
        <Table withTableBorder verticalSpacing={6} layout="fixed" aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th w="45%">{words.member}</Table.Th>
              <Table.Th>{words.meaning}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Row key={row.path.join('\u0000')} row={row} />
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  )
}

function Row({ row: { path, type, isRequired, description, limits } }: { readonly row: SchemaRow }): ReactNode {
  const depth = path.filter((name) => name !== '[]').length - 1
  return (
    <Table.Tr>
      <Table.Td valign="top">
        <Box ps={Math.max(0, depth) * INDENT}>
          <Group gap={6}>
            <Text ff="monospace" size="sm">
              {toDisplayText(path.at(-1) ?? '')}
            </Text>
            {isRequired && (
              <Badge size="xs" variant="light" tt="none">
                {words.required}
              </Badge>
            )}
          </Group>
          <Text size="xs" c="dimmed">
            {toDisplayText(type)}
          </Text>
        </Box>
      </Table.Td>
      <Table.Td valign="top">
        {description !== '' && <Text size="sm">{toDisplayText(description)}</Text>}
        {limits.length > 0 && (
          <Text size="xs" c="dimmed">
            {limits.map(toDisplayText).join(' · ')}
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
