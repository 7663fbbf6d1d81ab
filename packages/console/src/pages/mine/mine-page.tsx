import { Anchor, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../app/address.js'
import { useSession } from '../../app/session.js'
import { Loading } from '../../parts/loading.js'
import { strings } from '../../strings.js'
import { OwnAgents } from './own-agents.js'
import { OwnKeys } from './own-keys.js'
import { OwnTasks } from './own-tasks.js'

/** What belongs to the person who is signed in: agents, keys, deferred calls. */
export function MinePage(): ReactNode {
  const { isKnown, subject } = useSession()
  if (!isKnown) return <Loading />
  return (
    <Stack gap="xl">
      <Title order={1}>{strings.mine.title}</Title>
      {subject === undefined ? (
        <Text>
          {strings.mine.signIn}{' '}
          <Anchor component={Link} href={addressOf.signIn(addressOf.mine())}>
            {strings.navigation.signIn}
          </Anchor>
        </Text>
      ) : (
        <>
          <OwnAgents />
          <OwnKeys />
          <OwnTasks />
        </>
      )}
    </Stack>
  )
}
