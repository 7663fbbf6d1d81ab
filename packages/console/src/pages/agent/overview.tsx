import { Badge, Code, Group, List, Stack, Table, Text } from '@mantine/core'
import { toDisplayText } from '@switchboard/client/discovery'
import type { ReactNode } from 'react'
import { CONNECTION } from '../../app/api.js'
import { CodeBlock } from '../../parts/code-block.js'
import { strings } from '../../strings.js'
import type { AgentDetails } from './read-agent.js'
import { Facts, Section } from './section.js'
import { Statistics } from './statistics.js'
import { Provenance, Verification } from './trust.js'

const { agent: words } = strings

/** Lines that are shown of a publisher's lists. */
const MAX_EXAMPLES = 20
const MAX_BINDINGS = 20

/** What the agent is, how to reach it, and why to trust it. */
export function Overview({ agent }: { readonly agent: AgentDetails }): ReactNode {
  const { record, examples, olderVersions, verification } = agent
  const { capabilities, languages, visibility, version, tags } = record
  const names = [...new Set(capabilities.map(({ name }) => name))]
  return (
    <Stack gap="xl">
      <Facts
        items={[
          [words.id, <Code key="id">{record.id}</Code>],
          ...(names.length > 0 ? [[words.capabilities, <Badges key="names" texts={names} />] as const] : []),
          ...(tags.length > 0 ? [[words.tags, <Badges key="tags" texts={tags} />] as const] : []),
          [words.languages, languages ? languages.map(toDisplayText).join(', ') : words.anyLanguage],
          [words.visibility, words.visibilities[visibility]],
          ...(version === undefined
            ? []
            : [
                [
                  words.versions,
                  [`${toDisplayText(version)} (${words.latest})`, ...olderVersions.map(toDisplayText)].join(', '),
                ] as const,
              ]),
        ]}
      />
      {examples.length > 0 && (
        <Section title={words.examples}>
          <List size="sm" spacing={4}>
            {examples.slice(0, MAX_EXAMPLES).map(({ text }) => (
              <List.Item key={text}>{toDisplayText(text)}</List.Item>
            ))}
          </List>
        </Section>
      )}
      <Section title={words.reach}>
        <Reach agent={agent} />
      </Section>
      <Section title={strings.trust.title}>
        <Verification verification={verification} />
      </Section>
      <Section title={strings.trust.provenance}>
        <Provenance agent={agent} />
      </Section>
      <Statistics verification={verification} />
    </Stack>
  )
}

export function Badges({ texts }: { readonly texts: readonly string[] }): ReactNode {
  return (
    <Group gap={6}>
      {[...new Set(texts)].map((text) => (
        <Badge key={text} variant="default" tt="none" fw={400}>
          {toDisplayText(text)}
        </Badge>
      ))}
    </Group>
  )
}

function Reach({ agent: { record, bindings } }: { readonly agent: AgentDetails }): ReactNode {
  const { id, authentication, protocols } = record
  const type = authentication?.type ?? 'none'
  const uri = agentUri(id)
  return (
    <Stack gap="sm">
      <Table withTableBorder layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={110}>{words.protocol}</Table.Th>
            <Table.Th>{words.endpoint}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {bindings.slice(0, MAX_BINDINGS).map(({ protocol, endpoint }) => (
            <Table.Tr key={`${protocol} ${endpoint}`}>
              <Table.Td>{toDisplayText(protocol)}</Table.Td>
              <Table.Td>
                <Text ff="monospace" size="xs">
                  {toDisplayText(endpoint)}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Facts
        items={[
          [
            words.throughDirectory,
            <CodeBlock
              key="gateway"
              text={`${CONNECTION.baseUrl}/agents/${encodeURIComponent(id)}/invoke`}
              label={words.throughDirectory}
            />,
          ],
          ...(uri === undefined ? [] : [[words.uri, <CodeBlock key="uri" text={uri} label={words.uri} />] as const]),
          ...(protocols.length > 0 ? [[words.protocol, <Badges key="p" texts={protocols} />] as const] : []),
          [
            words.authentication,
            <Stack key="authentication" gap={4}>
              <Text size="sm">{words.authenticationTypes[type] ?? toDisplayText(type)}</Text>
              {authentication?.instructions !== undefined && (
                <Text size="sm" c="dimmed">
                  {toDisplayText(authentication.instructions)}
                </Text>
              )}
            </Stack>,
          ],
        ]}
      />
    </Stack>
  )
}

/** The id if it is an agent URI; otherwise the one that the directory's own agents.json makes resolvable. */
function agentUri(id: string): string | undefined {
  if (/^agent(\+\w+)?:\/\//.test(id)) return id
  return /^[\w.~-]+$/.test(id) ? `agent://${location.host}/${id}` : undefined
}
