import { Box, Button, Paper, Stack, Text } from '@mantine/core'
import { useClickOutside, useDisclosure } from '@mantine/hooks'
import { toDisplayText } from '@switchboard/client/discovery'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { Failure } from '../parts/failure.js'
import { strings } from '../strings.js'
import { useSession } from './session.js'

const { account } = strings

/** Shows who is signed in and what they may do, and signs them out. Not a Mantine Popover, because its position is fixed. */
export function AccountMenu({ subject }: { readonly subject: string }): ReactNode {
  const { scopes, signOut } = useSession()
  const [isOpen, { toggle, close }] = useDisclosure()
  const [error, setError] = useState<unknown>()
  const button = useRef<HTMLButtonElement>(null)
  const box = useClickOutside<HTMLDivElement>(close)
  const name = toDisplayText(subject)
  const closeOnEscape = ({ key }: KeyboardEvent): void => {
    if (key !== 'Escape') return
    close()
    button.current?.focus()
  }
  return (
    <Box ref={box} pos="relative" onKeyDown={closeOnEscape}>
      <Button
        ref={button}
        variant="subtle"
        color="gray"
        size="compact-sm"
        maw={150}
        onClick={toggle}
        aria-expanded={isOpen}
        aria-label={account.signedInAs(name)}
      >
        <bdi>{name}</bdi>
      </Button>
      {isOpen && (
        <Paper withBorder shadow="md" p="sm" w={260} pos="absolute" top="100%" right={0} mt={4}>
          <Stack gap="sm">
            <Text size="sm">{account.signedInAs(name)}</Text>
            <Text size="sm" c="dimmed">
              {account.scopes(scopes.map((scope) => toDisplayText(scope)))}
            </Text>
            {error !== undefined && <Failure error={error} />}
            <Button variant="default" onClick={() => signOut().catch(setError)}>
              {account.signOut}
            </Button>
          </Stack>
        </Paper>
      )}
    </Box>
  )
}
