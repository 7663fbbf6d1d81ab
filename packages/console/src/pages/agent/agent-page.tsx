import { Anchor, Badge, Group, Stack, Tabs, Text, Title } from '@mantine/core'
import { ClientError, toDisplayText } from '@switchboard/client/discovery'
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { Link, useParams, useSearchParams } from 'wouter'
import { addressOf } from '../../app/address.js'
import { useLoad } from '../../app/use-load.js'
import { Failure } from '../../parts/failure.js'
import { Loading } from '../../parts/loading.js'
import { strings } from '../../strings.js'
import { Documents } from './documents.js'
import { LeaseBar } from './lease-bar.js'
import { Notices, noticesOf } from './notices.js'
import { Operations } from './operations.js'
import { Overview } from './overview.js'
import { type AgentDetails, readAgent } from './read-agent.js'

const { agent: words } = strings
const TABS = ['overview', 'operations', 'tryIt', 'documents'] as const

/** The form, the client that calls agents and the check of inputs are loaded when somebody wants to try an agent. */
const TryIt = lazy(async () => ({ default: (await import('./try-it/try-it.js')).TryIt }))

/** Everything about one agent: `/console/agents/:id`, with `tab` in the query. */
export function AgentPage(): ReactNode {
  const { id: encoded = '' } = useParams()
  const id = decodeURIComponent(encoded)
  const { value, error, reload } = useLoad(id, (signal) => readAgent(id, signal))
  const isGone = error instanceof ClientError && error.status === 404
  if (value?.record.id === id) return <Agent key={id} agent={value} isGone={isGone} onEnd={reload} />
  if (isGone) return <MissingAgent id={id} />
  return error === undefined ? <Loading /> : <Failure error={error} onRetry={reload} />
}

function MissingAgent({ id }: { readonly id: string }): ReactNode {
  return (
    <Stack gap="xs">
      <Title order={1}>{words.missing}</Title>
      <Text>{words.missingText(toDisplayText(id))}</Text>
      <Anchor component={Link} href={addressOf.search()}>
        {strings.notFound.back}
      </Anchor>
    </Stack>
  )
}

interface AgentProps {
  readonly agent: AgentDetails
  readonly isGone: boolean
  readonly onEnd: () => void
}

function Agent({ agent, isGone, onEnd }: AgentProps): ReactNode {
  const { record, operations } = agent
  const name = toDisplayText(record.name)
  const [params, setParams] = useSearchParams()
  const tab = TABS.find((known) => known === params.get('tab')) ?? 'overview'
  const open = (next: string | null, operation?: string): void =>
    setParams(
      (old) => {
        const query = new URLSearchParams(old)
        query.set('tab', next ?? 'overview')
        if (operation !== undefined) query.set('operation', operation)
        return query
      },
      { replace: true },
    )
  useEffect(() => {
    const before = document.title
    document.title = `${name} · ${strings.common.directory}`
    return () => {
      document.title = before
    }
  }, [name])

  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Group gap="sm" align="center">
          <Title order={1} size="h2">
            {name}
          </Title>
          <Badge variant="light" color={isGone ? 'red' : record.status === 'active' ? 'teal' : 'orange'} tt="none">
            {isGone ? strings.lease.expired : toDisplayText(record.status)}
          </Badge>
        </Group>
        <Text size="sm" c="dimmed">
          {[
            ...(record.publisher === undefined ? [] : [words.by(toDisplayText(record.publisher))]),
            ...(record.version === undefined ? [] : [words.version(toDisplayText(record.version))]),
          ].join(' · ')}
        </Text>
        <Text maw="70ch">{toDisplayText(record.description)}</Text>
      </Stack>
      <div>
        <Notices notices={noticesOf(agent, isGone)} />
        <LeaseBar agent={agent} isGone={isGone} onEnd={onEnd} />
      </div>
      <Tabs value={tab} onChange={open} keepMounted={false}>
        <Tabs.List aria-label={words.tabs}>
          {TABS.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {words[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="overview" pt="lg">
          <Overview agent={agent} />
        </Tabs.Panel>
        <Tabs.Panel value="operations" pt="lg">
          <Operations operations={operations} onTry={(operation) => open('tryIt', operation)} />
        </Tabs.Panel>
        <Tabs.Panel value="tryIt" pt="lg">
          <Suspense fallback={<Loading />}>
            <TryIt
              agent={agent}
              name={params.get('operation') ?? undefined}
              onChoose={(operation) => open('tryIt', operation)}
              searchId={params.get('search') ?? undefined}
            />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="documents" pt="lg">
          <Documents id={record.id} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}
