import { Alert, Code, List, Stack, Tabs, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { CodeBlock } from '../../parts/code-block.js'
import { strings } from '../../strings.js'
import type { Check } from './check-document.js'

const texts = strings.publish

/** What is wrong with a document, or what registering it would do and how it looks through every draft. */
export function CheckResult({ check }: { readonly check: Check }): ReactNode {
  if (check.state === 'empty') return null
  if (check.state === 'wrong') {
    return (
      <Alert color="red" title={texts.problems} role="status">
        <List size="sm">
          {check.problems.map(({ member, message }) => (
            <List.Item key={`${member} ${message}`}>
              {member !== undefined && <Code>{member}</Code>} {message}
            </List.Item>
          ))}
        </List>
        {check.remedy !== undefined && (
          <Text size="sm" mt="xs">
            {check.remedy}
          </Text>
        )}
      </Alert>
    )
  }
  const { effect, id, warnings, views } = check
  const names = Object.keys(views)
  return (
    <Stack>
      <Alert color="green" title={texts.effects[effect]?.(id) ?? effect} role="status">
        {warnings.length === 0 ? (
          texts.noWarnings
        ) : (
          <>
            <Text size="sm">{texts.warnings}</Text>
            <List size="sm">
              {warnings.map((warning) => (
                <List.Item key={warning}>{warning}</List.Item>
              ))}
            </List>
          </>
        )}
      </Alert>
      <Title order={2} size="h4">
        {texts.preview}
      </Title>
      <Tabs defaultValue={names[0] ?? null} keepMounted={false}>
        <Tabs.List>
          {names.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {texts.views[name] ?? name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {names.map((name) => (
          <Tabs.Panel key={name} value={name} pt="sm">
            <CodeBlock text={JSON.stringify(views[name], null, 2)} label={texts.views[name] ?? name} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}
