import { Group, Progress, Stack, Text } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import { strings } from '../../strings.js'
import { formatSpan, nextChange, shareLeft } from './lease.js'
import type { AgentDetails } from './read-agent.js'
import { TimeAgo } from './time-ago.js'

/** Milliseconds after which the directory is asked again, if the clocks of browser and directory differ. */
const ASK_AGAIN_MS = 10_000
/** Milliseconds after the end at which the directory is asked, so that it has passed there too. */
const GRACE_MS = 250
/** Shares of the lifetime below which the bar warns. */
const LOW = 0.25

interface LeaseBarProps {
  readonly agent: AgentDetails
  /** The directory no longer lists it. */
  readonly isGone: boolean
  /** Called when the lifetime ends: it may have been renewed. */
  readonly onEnd: () => void
}

/** How fresh the registration is, and how long it lasts; counts down and asks the directory only when the time is up. */
export function LeaseBar({ agent, isGone, onEnd }: LeaseBarProps): ReactNode {
  const { receivedAt, changedAt, expiresAt } = agent
  const now = useCountdown(isGone ? undefined : expiresAt, onEnd)
  const left = expiresAt === undefined ? 1 : isGone ? 0 : shareLeft(receivedAt ?? now, expiresAt, now)
  const text = isGone
    ? strings.lease.expired
    : expiresAt === undefined
      ? strings.lease.never
      : strings.lease.remaining(formatSpan(expiresAt - now))
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          {text}
        </Text>
        <Text size="sm" c="dimmed">
          {receivedAt !== undefined && <TimeAgo at={receivedAt} say={strings.lease.received} />}
          {receivedAt !== undefined && changedAt !== undefined && ' · '}
          {changedAt !== undefined && <TimeAgo at={changedAt} say={strings.lease.changed} />}
        </Text>
      </Group>
      <Progress value={left * 100} size="sm" color={left < LOW ? 'orange' : 'teal'} aria-label={strings.lease.label} />
    </Stack>
  )
}

/** The time, renewed as often as the shown text changes. */
function useCountdown(end: number | undefined, onEnd: () => void): number {
  const [now, setNow] = useState(Date.now)
  const left = end === undefined ? undefined : end - now
  // biome-ignore lint/correctness/useExhaustiveDependencies: `onEnd` is new at every rendering.
  useEffect(() => {
    if (left === undefined) return
    const isOver = left <= -GRACE_MS
    if (isOver) onEnd()
    const timer = setTimeout(
      () => setNow(Date.now()),
      isOver ? ASK_AGAIN_MS : Math.min(nextChange(left), left + GRACE_MS + 1),
    )
    return () => clearTimeout(timer)
  }, [left])
  // A background tab's timers are slow: what is shown when it returns has to be right.
  useEffect(() => {
    const refresh = (): void => setNow(Date.now())
    document.addEventListener('visibilitychange', refresh)
    return () => document.removeEventListener('visibilitychange', refresh)
  }, [])
  return now
}
