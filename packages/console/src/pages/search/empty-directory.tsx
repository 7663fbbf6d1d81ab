import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core'
import { isObject } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { addressOf, BASE } from '../../app/address.js'
import { CONNECTION, requestJson } from '../../app/api.js'
import { useSession } from '../../app/session.js'
import { useLoad } from '../../app/use-load.js'
import { CodeBlock } from '../../parts/code-block.js'
import { Failure } from '../../parts/failure.js'
import { strings } from '../../strings.js'

const { empty } = strings.search

/** What someone sees who comes first: what this is, and agents to try it with. */
export function EmptyDirectory({ onFilled }: { readonly onFilled: () => void }): ReactNode {
  const { can } = useSession()
  return (
    <Stack gap="sm" maw={640}>
      <Title order={2} size="h3">
        {empty.title}
      </Title>
      <Text>{empty.text}</Text>
      {can('admin') ? <DemoButton onFilled={onFilled} /> : <DemoCommand />}
      <Group gap="lg">
        <Anchor component={Link} href={addressOf.publish()}>
          {empty.publish}
        </Anchor>
        <Anchor href={`${BASE}docs`}>{empty.documentation}</Anchor>
        {!can('admin') && (
          <Anchor component={Link} href={addressOf.signIn('/')}>
            {empty.signIn}
          </Anchor>
        )}
      </Group>
    </Stack>
  )
}

/** Where the command looks for a directory by itself. */
const DEFAULT_URL = 'http://127.0.0.1:8040'
const { baseUrl } = CONNECTION
const DEMO_COMMAND = `npx switchboard demo${baseUrl === DEFAULT_URL ? '' : ` --url ${baseUrl}`}`

function DemoCommand(): ReactNode {
  return (
    <>
      <Text>{empty.command}</Text>
      <CodeBlock text={DEMO_COMMAND} label={empty.commandLabel} />
    </>
  )
}

/** Starts the agents of the demo in the directory itself, where it offers that. */
function DemoButton({ onFilled }: { readonly onFilled: () => void }): ReactNode {
  const status = useLoad('demo', (signal) => requestJson('/admin/demo', { signal }))
  const [isStarting, setIsStarting] = useState(false)
  const [error, setError] = useState<unknown>()
  const start = async (): Promise<void> => {
    setIsStarting(true)
    setError(undefined)
    try {
      await requestJson('/admin/demo', { method: 'POST' })
      onFilled()
    } catch (failure) {
      setError(failure)
    }
    setIsStarting(false)
  }
  if (status.isLoading) return null
  if (!isObject(status.value) || status.value.available !== true) return <DemoCommand />
  return (
    <>
      <Text>{empty.demo}</Text>
      <Button loading={isStarting} onClick={start} w="fit-content">
        {empty.start}
      </Button>
      {error !== undefined && <Failure error={error} />}
    </>
  )
}
