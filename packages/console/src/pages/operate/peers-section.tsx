import { Badge, Code, NativeSelect, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import type { JsonObject } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { requestJson } from '../../app/api.js'
import { numberAt, numbersAt, objectsAt, textAt } from '../../app/read-json.js'
import { useLoad } from '../../app/use-load.js'
import { ConfirmButton } from '../../parts/confirm-button.js'
import { Failure } from '../../parts/failure.js'
import { RowTable } from '../../parts/row-table.js'
import { Time } from '../../parts/time.js'
import { strings } from '../../strings.js'
import { FormCard } from './form-card.js'
import { Section } from './section.js'
import { useAction } from './use-action.js'

const { peers: texts } = strings.operate

interface Peer {
  readonly name: string
  readonly url: string
  readonly isConfigured: boolean
  readonly trust: string
  readonly failures: number
  readonly error: string | undefined
  readonly heardAt: string | undefined
  readonly agents: readonly [state: string, count: number][]
}

const readPeer = (value: JsonObject): Peer => ({
  name: textAt(value, 'name') ?? '',
  url: textAt(value, 'url') ?? '',
  isConfigured: textAt(value, 'source') === 'config',
  trust: textAt(value, 'trust') ?? '',
  failures: numberAt(value, 'failures') ?? 0,
  error: textAt(value, 'error'),
  heardAt: textAt(value, 'last_heard_at'),
  agents: numbersAt(value, 'agents'),
})

const TRUST_OPTIONS = Object.entries(texts.trustLevels).map(([value, label]) => ({ value, label }))
const pathOf = ({ name }: Peer): string => `/admin/peers/${encodeURIComponent(name)}`

/** Other directories whose agents this one lists. */
export function PeersSection(): ReactNode {
  const action = useAction()
  const loaded = useLoad('peers', async (signal) =>
    objectsAt(await requestJson('/admin/peers', { signal }), 'peers').map(readPeer),
  )
  const setTrust = async (peer: Peer, trust: string): Promise<void> => {
    await action.run(() => requestJson(pathOf(peer), { method: 'PATCH', body: { trust } }))
    loaded.reload()
  }
  return (
    <Section
      title={strings.operate.sections.peers}
      intro={texts.intro}
      loaded={loaded}
      tools={<AddPeer onAdded={loaded.reload} />}
    >
      {(peers) => (
        <>
          {action.error !== undefined && <Failure error={action.error} />}
          <RowTable
            label={strings.operate.sections.peers}
            rows={peers}
            keyOf={({ name }) => name}
            empty={texts.none}
            columns={[
              {
                label: texts.name,
                show: ({ name, url }) => (
                  <Stack gap={2} align="flex-start">
                    <Text fw={600} size="sm">
                      {name}
                    </Text>
                    <Code>{url}</Code>
                  </Stack>
                ),
              },
              {
                label: texts.trust,
                show: (peer) =>
                  peer.isConfigured ? (
                    texts.inConfig(peer.trust)
                  ) : (
                    <NativeSelect
                      aria-label={texts.trustOf(peer.name)}
                      value={peer.trust}
                      onChange={({ currentTarget }) => void setTrust(peer, currentTarget.value)}
                      data={TRUST_OPTIONS}
                    />
                  ),
              },
              { label: texts.state, show: (peer) => <PeerState {...peer} /> },
              { label: texts.lastHeard, show: ({ heardAt }) => <Time at={heardAt} /> },
              {
                label: texts.agents,
                show: ({ agents }) => agents.map(([state, count]) => `${count} ${state}`).join(', ') || '0',
              },
              {
                label: strings.common.actions,
                show: (peer) =>
                  !peer.isConfigured && (
                    <ConfirmButton
                      label={texts.remove}
                      about={peer.name}
                      question={texts.removeQuestion(peer.name)}
                      consequence={texts.removeConsequence}
                      onConfirm={async () => {
                        await requestJson(pathOf(peer), { method: 'DELETE' })
                        loaded.reload()
                      }}
                    />
                  ),
              },
            ]}
          />
        </>
      )}
    </Section>
  )
}

function PeerState({ failures, error, heardAt }: Peer): ReactNode {
  const [color, label] =
    failures > 0
      ? ['red', texts.failing(failures)]
      : heardAt === undefined
        ? ['gray', texts.notHeard]
        : ['teal', texts.ok]
  return (
    <Stack gap={2} align="flex-start">
      <Badge color={color} variant="light" tt="none">
        {label}
      </Badge>
      {error !== undefined && <Text size="xs">{error}</Text>}
    </Stack>
  )
}

function AddPeer({ onAdded }: { readonly onAdded: () => void }): ReactNode {
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [token, setToken] = useState('')
  const [trust, setTrust] = useState('quarantine')
  const action = useAction()

  const add = async (): Promise<void> => {
    const body = { name: name.trim(), url: url.trim(), trust, ...(token !== '' && { token }) }
    if (!(await action.run(() => requestJson('/admin/peers', { method: 'POST', body })))) return
    setName('')
    setUrl('')
    setToken('')
    onAdded()
  }

  return (
    <FormCard title={texts.add} submit={texts.add} action={action} onSubmit={add}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <TextInput
          required
          label={texts.name}
          description={texts.nameHint}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <TextInput
          required
          type="url"
          label={texts.url}
          description={texts.urlHint}
          value={url}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        <TextInput
          type="password"
          autoComplete="off"
          label={texts.token}
          description={texts.tokenHint}
          value={token}
          onChange={({ currentTarget }) => setToken(currentTarget.value)}
        />
        <NativeSelect
          label={texts.trust}
          description={texts.trustHint}
          value={trust}
          onChange={({ currentTarget }) => setTrust(currentTarget.value)}
          data={TRUST_OPTIONS}
        />
      </SimpleGrid>
    </FormCard>
  )
}
