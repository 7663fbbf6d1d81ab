import { Anchor, Chip, Group, Stack, Tabs, Text } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { type ReactNode, useState } from 'react'
import { CONNECTION, directory, RequestError, requestJson } from '../../app/api.js'
import { useLoad } from '../../app/use-load.js'
import { CodeBlock } from '../../parts/code-block.js'
import { Failure } from '../../parts/failure.js'
import { Loading } from '../../parts/loading.js'
import { strings } from '../../strings.js'
import { toShownText } from './shown-text.js'

const { documents: words } = strings

type Format = keyof typeof words.formats
const FORMATS = Object.keys(words.formats).filter((name): name is Format => name in words.formats)

/** Where the directory serves the document of each draft. */
const PATHS: Readonly<Record<Exclude<Format, 'directory'>, (id: string) => string>> = {
  aidip01: (id) => `/agents/${id}`,
  aidip00: (id) => `/v0/agents/${id}`,
  profile: (id) => `/discover/agents/${id}`,
  descriptor: (id) => `/agents/${id}/agent.json`,
  a2a: (id) => `/agents/${id}/agent-card.json`,
  mcp: (id) => `/agents/${id}/server.json`,
}

/** The same agent as a document of each draft, side by side; on a narrow screen one at a time. */
export function Documents({ id }: { readonly id: string }): ReactNode {
  const isWide = useMediaQuery('(min-width: 62em)', undefined, { getInitialValueInEffect: false })
  const [shown, setShown] = useState<string[]>(['aidip01', 'a2a'])
  if (!isWide) {
    return (
      <Tabs defaultValue="aidip01" keepMounted={false}>
        <Tabs.List>
          {FORMATS.map((format) => (
            <Tabs.Tab key={format} value={format}>
              {words.formats[format]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {FORMATS.map((format) => (
          <Tabs.Panel key={format} value={format} pt="sm">
            <AgentDocument id={id} format={format} />
          </Tabs.Panel>
        ))}
      </Tabs>
    )
  }
  const chosen = FORMATS.filter((format) => shown.includes(format))
  return (
    <Stack>
      <Text size="sm">{words.intro}</Text>
      <Chip.Group multiple value={shown} onChange={setShown}>
        <Group gap="xs" role="group" aria-label={words.choose}>
          {FORMATS.map((format) => (
            <Chip key={format} value={format} size="sm">
              {words.formats[format]}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {chosen.length === 0 && <Text c="dimmed">{words.none}</Text>}
      <div className="side-by-side">
        {chosen.map((format) => (
          <AgentDocument key={format} id={id} format={format} />
        ))}
      </div>
    </Stack>
  )
}

function AgentDocument({ id, format }: { readonly id: string; readonly format: Format }): ReactNode {
  const { value, error, reload } = useLoad(`${format} ${id}`, async (signal) => {
    const path = format === 'directory' ? await findRegistration(id, signal) : PATHS[format](encodeURIComponent(id))
    return { path, document: (await requestJson(path, { signal })) ?? null }
  })
  return (
    <Stack gap={4} component="section" aria-label={words.formats[format]} miw={0}>
      <Group justify="space-between" wrap="nowrap">
        <Text fw={600} size="sm">
          {words.formats[format]}
        </Text>
        {value && (
          <Anchor size="xs" href={CONNECTION.baseUrl + value.path} target="_blank" rel="noreferrer">
            {words.open}
          </Anchor>
        )}
      </Group>
      {error instanceof RequestError && error.status === 404 ? (
        // An agent need not have a document of every draft; the directory says why, and which others there are.
        <Text size="sm" c="dimmed">
          {error.message}
        </Text>
      ) : error !== undefined ? (
        <Failure error={error} onRetry={reload} />
      ) : value ? (
        <CodeBlock label={words.formats[format]} text={toShownText(value.document)} />
      ) : (
        <Loading />
      )}
    </Stack>
  )
}

/** Registrations of the Agent Directory have numbers: a lookup by name finds the one of an agent. */
async function findRegistration(id: string, signal: AbortSignal): Promise<string> {
  const { agents } = await directory.lookup({ agent: id, count: 1 }, { signal })
  const href = agents.find(({ agent }) => agent === id)?.href
  if (href === undefined) throw new Error(strings.agent.missingText(id))
  return href
}
