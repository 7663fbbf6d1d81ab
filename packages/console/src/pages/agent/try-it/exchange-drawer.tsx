import { Badge, Drawer, Group, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CodeBlock } from '../../../parts/code-block.js'
import { strings } from '../../../strings.js'
import { escapeDeceptive } from '../shown-text.js'
import type { Exchange } from './record-exchanges.js'

const { tryIt: words } = strings

interface ExchangeDrawerProps {
  readonly exchanges: readonly Exchange[]
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** The requests of the last call and their responses, as they were sent. */
export function ExchangeDrawer({ exchanges, isOpen, onClose }: ExchangeDrawerProps): ReactNode {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      title={words.exchange}
      position="right"
      size="xl"
      closeButtonProps={{ 'aria-label': strings.common.close }}
    >
      <Stack>
        <Text size="sm" c="dimmed">
          {exchanges.length === 0
            ? words.exchangeNone
            : [words.secretsHidden, ...(exchanges.some(({ isCut }) => isCut) ? [words.exchangeCut] : [])].join(' ')}
        </Text>
        {exchanges.map((exchange) => (
          <Stack key={exchange.id} gap="xs" component="section">
            <Group gap="xs">
              <Badge variant="default">{exchange.method}</Badge>
              <Text size="sm" ff="monospace">
                {new URL(exchange.url).pathname}
              </Text>
            </Group>
            <CodeBlock label={words.request} text={requestText(exchange)} />
            {exchange.status !== undefined && <CodeBlock label={words.response} text={responseText(exchange)} />}
          </Stack>
        ))}
      </Stack>
    </Drawer>
  )
}

const lines = (headers: Exchange['requestHeaders']): string[] => headers.map(([name, value]) => `${name}: ${value}`)

function requestText({ method, url, requestHeaders, requestBody }: Exchange): string {
  const { pathname, search, host } = new URL(url)
  const head = [`${method} ${pathname}${search}`, `host: ${host}`, ...lines(requestHeaders)]
  return escapeDeceptive([...head, ...(requestBody === '' ? [] : ['', requestBody])].join('\n'))
}

function responseText({ status, responseHeaders, responseBody }: Exchange): string {
  const head = [String(status), ...lines(responseHeaders)]
  return escapeDeceptive([...head, ...(responseBody === '' ? [] : ['', responseBody])].join('\n'))
}
