import { Box, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useId } from 'react'

/** A part of the page with its heading. */
export function Section({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  const id = useId()
  return (
    <Stack component="section" gap="xs" aria-labelledby={id}>
      <Title order={2} size="h4" id={id}>
        {title}
      </Title>
      {children}
    </Stack>
  )
}

/** Names with their values, in two columns; one below the other on a narrow screen. */
export function Facts({
  items,
}: {
  readonly items: readonly (readonly [name: string, value: ReactNode])[]
}): ReactNode {
  return (
    <Box component="dl" className="facts">
      {items.map(([name, value]) => (
        <div key={name}>
          <Text component="dt" size="sm" c="dimmed">
            {name}
          </Text>
          <Box component="dd">{value}</Box>
        </div>
      ))}
    </Box>
  )
}
