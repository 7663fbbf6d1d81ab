import { Badge, Button, Card, Group, NativeSelect, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { JsonObject } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { requestJson } from '../../app/api.js'
import { objectsAt, textAt, valueAt } from '../../app/read-json.js'
import { useLoad } from '../../app/use-load.js'
import { CodeBlock } from '../../parts/code-block.js'
import { Failure } from '../../parts/failure.js'
import { Time } from '../../parts/time.js'
import { strings } from '../../strings.js'
import { Section } from './section.js'
import { useAction } from './use-action.js'

const { quarantine: texts } = strings.operate

const STATES = ['quarantined', 'rejected', 'accepted'] as const
/** Copies of one page; when these are decided, the next ones follow. */
const PAGE = 50

/** Agents of peers that someone has to review. */
export function QuarantineSection(): ReactNode {
  const [state, setState] = useState<string>('quarantined')
  const loaded = useLoad(state, async (signal) =>
    objectsAt(await requestJson(`/admin/quarantine?state=${state}&limit=${PAGE}`, { signal }), 'agents'),
  )
  const tools = (
    <NativeSelect
      label={texts.state}
      value={state}
      maw={320}
      onChange={({ currentTarget }) => setState(currentTarget.value)}
      data={STATES.map((value) => ({ value, label: texts.states[value] }))}
    />
  )
  return (
    <Section title={strings.operate.sections.quarantine} intro={texts.intro} loaded={loaded} tools={tools}>
      {(copies) =>
        copies.length === 0 ? (
          <Text c="dimmed">{state === 'quarantined' ? texts.none : strings.common.noMatch}</Text>
        ) : (
          <Stack>
            {copies.map((copy) => (
              <Copy
                key={`${textAt(copy, 'peer')} ${textAt(copy, 'agent')}`}
                copy={copy}
                state={state}
                onDecided={loaded.reload}
              />
            ))}
            {copies.length === PAGE && <Text c="dimmed">{texts.moreFollow}</Text>}
          </Stack>
        )
      }
    </Section>
  )
}

interface CopyProps {
  readonly copy: JsonObject
  readonly state: string
  readonly onDecided: () => void
}

function Copy({ copy, state, onDecided }: CopyProps): ReactNode {
  const [isOpen, { toggle }] = useDisclosure()
  const action = useAction()
  const agent = textAt(copy, 'agent') ?? ''
  const peer = textAt(copy, 'peer') ?? ''

  const decide = async (decision: 'accept' | 'reject'): Promise<void> => {
    // A peer may have replaced the copy since it was shown here.
    const received = textAt(copy, 'received_at')
    const body = { agent, peer, decision, ...(received !== undefined && { received_at: received }) }
    if (await action.run(() => requestJson('/admin/quarantine', { method: 'POST', body }))) onDecided()
  }

  return (
    <Card withBorder component="article" aria-label={agent}>
      <Stack gap="xs">
        <Group gap="xs">
          <Title order={3} size="h5">
            {agent}
          </Title>
          <Badge variant="light" color={valueAt(copy, 'is_signed') === true ? 'teal' : 'gray'} tt="none">
            {valueAt(copy, 'is_signed') === true ? texts.signed : texts.unsigned}
          </Badge>
        </Group>
        <Text size="sm">
          {texts.from(peer, textAt(copy, 'origin_service') ?? '')} <Time at={textAt(copy, 'received_at')} />
        </Text>
        {action.error !== undefined && <Failure error={action.error} />}
        <Group gap="xs">
          {state !== 'accepted' && (
            <Button
              size="compact-sm"
              loading={action.isPending}
              onClick={() => void decide('accept')}
              aria-label={`${texts.accept}: ${agent}`}
            >
              {texts.accept}
            </Button>
          )}
          {state !== 'rejected' && (
            <Button
              size="compact-sm"
              color="red"
              variant="light"
              loading={action.isPending}
              onClick={() => void decide('reject')}
              aria-label={`${texts.reject}: ${agent}`}
            >
              {texts.reject}
            </Button>
          )}
          <Button
            size="compact-sm"
            variant="default"
            onClick={toggle}
            aria-expanded={isOpen}
            aria-label={`${texts.document}: ${agent}`}
          >
            {texts.document}
          </Button>
        </Group>
        {isOpen && (
          <CodeBlock label={texts.documentOf(agent)} text={JSON.stringify(valueAt(copy, 'document'), undefined, 2)} />
        )}
      </Stack>
    </Card>
  )
}
