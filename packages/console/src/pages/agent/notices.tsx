import { Alert, Stack, Text } from '@mantine/core'
import { isObject } from '@switchboard/protocol/json'
import type { ReactNode } from 'react'
import { strings } from '../../strings.js'
import type { AgentDetails } from './read-agent.js'

const { trust, lease } = strings

interface Notice {
  readonly color: string
  readonly title: string
  readonly text?: string
}

/** What somebody should know before they use the agent. */
export function noticesOf({ record, verification, provenance, isRedacted }: AgentDetails, isGone: boolean): Notice[] {
  const { unsafe, health, warnings } = verification
  const isUnreachable = isObject(health) && health.state === 'unreachable'
  return [
    ...(isGone ? [{ color: 'red', title: lease.expired, text: lease.expiredText }] : []),
    ...(unsafe === true ? [{ color: 'red', title: trust.unsafe, text: trust.unsafeText }] : []),
    ...(provenance?.quarantined === true ? [{ color: 'red', title: trust.quarantined }] : []),
    ...(record.status === 'active'
      ? []
      : [
          {
            color: 'orange',
            title: trust.status(record.status),
            text: record.status === 'deprecated' ? trust.deprecated : trust.statusText,
          },
        ]),
    ...(isUnreachable ? [{ color: 'orange', title: trust.unreachable(''), text: trust.unreachableText }] : []),
    ...(Array.isArray(warnings) && warnings.length > 0 ? [{ color: 'orange', title: trust.manipulation }] : []),
    ...(isRedacted ? [{ color: 'gray', title: trust.redacted }] : []),
  ]
}

/** The notices; one that appears later, such as that the agent has expired, is announced. */
export function Notices({ notices }: { readonly notices: readonly Notice[] }): ReactNode {
  return (
    <Stack gap="xs" role="status" mb={notices.length > 0 ? 'md' : 0}>
      {notices.map(({ color, title, text }) => (
        <Alert key={title} color={color} title={title} role="note" variant="light">
          {text && <Text size="sm">{text}</Text>}
        </Alert>
      ))}
    </Stack>
  )
}
