import { Anchor, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../app/address.js'
import { strings } from '../strings.js'

/** For addresses that no page has. */
export function NotFoundPage(): ReactNode {
  return (
    <Stack gap="xs">
      <Title order={1}>{strings.notFound.title}</Title>
      <Text>{strings.notFound.text}</Text>
      <Anchor component={Link} href={addressOf.search()}>
        {strings.notFound.back}
      </Anchor>
    </Stack>
  )
}
