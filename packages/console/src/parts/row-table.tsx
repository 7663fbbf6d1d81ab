import { Box, Button, Table, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { strings } from '../strings.js'

/** Rows that are rendered at first, and added with each press of the button. */
const STEP = 100

export interface Column<T> {
  readonly label: string
  readonly show: (row: T) => ReactNode
}

export interface RowTableProps<T> {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  /** Why there is nothing, and what to do. */
  readonly empty: string
}

/** A table that scrolls in its own box on narrow screens, also with the keyboard. */
export function RowTable<T>({ label, columns, rows, keyOf, empty }: RowTableProps<T>): ReactNode {
  const [shown, setShown] = useState(STEP)
  if (rows.length === 0) return <Text c="dimmed">{empty}</Text>
  return (
    <>
      <Box className="scroll-box" role="region" aria-label={label} tabIndex={0}>
        <Table verticalSpacing="xs" aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column.label} scope="col">
                  {column.label}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.slice(0, shown).map((row) => (
              <Table.Tr key={keyOf(row)}>
                {columns.map((column) => (
                  <Table.Td key={column.label}>{column.show(row)}</Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Box>
      {rows.length > shown && (
        <Button variant="default" onClick={() => setShown((count) => count + STEP)}>
          {strings.common.showMore(rows.length - shown)}
        </Button>
      )}
    </>
  )
}
