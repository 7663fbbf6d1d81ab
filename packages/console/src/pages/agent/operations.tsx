import { Button, Card, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { toDisplayText } from '@switchboard/client/discovery'
import type { Operation } from '@switchboard/protocol/documents'
import type { JsonObject } from '@switchboard/protocol/json'
import type { ReactNode } from 'react'
import { CodeBlock } from '../../parts/code-block.js'
import { strings } from '../../strings.js'
import { SchemaTable } from './schema-table.js'
import { toShownText } from './shown-text.js'

const { schema: words } = strings

/** Examples that are shown of one operation. */
const MAX_EXAMPLES = 3

interface OperationsProps {
  readonly operations: readonly Operation[]
  readonly onTry?: (operation: string) => void
}

/** What the agent can be asked to do, with inputs and outputs as tables. */
export function Operations({ operations, onTry }: OperationsProps): ReactNode {
  return (
    <Stack>
      {operations.map((operation) => (
        <Card key={operation.name} withBorder component="article">
          <Stack gap="md">
            <Group justify="space-between" align="flex-start">
              <div>
                <Title order={2} size="h4" ff="monospace">
                  {toDisplayText(operation.name)}
                </Title>
                {operation.description && <Text size="sm">{toDisplayText(operation.description)}</Text>}
              </div>
              {onTry && (
                <Button variant="light" size="xs" onClick={() => onTry(operation.name)}>
                  {words.tryOperation(toDisplayText(operation.name))}
                </Button>
              )}
            </Group>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <SchemaTable title={words.input} description={operation.inputs} />
              <SchemaTable title={words.output} description={operation.outputs} />
            </SimpleGrid>
            {operation.examples?.slice(0, MAX_EXAMPLES).map((example) => (
              <Example key={JSON.stringify(example)} example={example} />
            ))}
          </Stack>
        </Card>
      ))}
    </Stack>
  )
}

function Example({ example: { input, output } }: { readonly example: JsonObject }): ReactNode {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      {input !== undefined && <CodeBlock label={words.exampleInput} text={toShownText(input)} />}
      {output !== undefined && <CodeBlock label={words.exampleOutput} text={toShownText(output)} />}
    </SimpleGrid>
  )
}
