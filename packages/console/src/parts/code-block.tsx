import { ActionIcon, Box, Code, CopyButton, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'
import { strings } from '../strings.js'

/** Text to copy, such as a command or a document. Its scrollable box can be reached with the keyboard. */
export function CodeBlock({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  return (
    <Box pos="relative">
      <Code block tabIndex={0} role="region" aria-label={label} pr={44} mah={480} style={{ overflow: 'auto' }}>
        {text}
      </Code>
      <CopyButton value={text}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? strings.common.copied : strings.common.copy}>
            <ActionIcon
              variant="subtle"
              pos="absolute"
              top={6}
              right={6}
              onClick={copy}
              aria-label={`${copied ? strings.common.copied : strings.common.copy}: ${label}`}
            >
              <CopyIcon isDone={copied} />
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Box>
  )
}

const CopyIcon = ({ isDone }: { readonly isDone: boolean }): ReactNode => (
  <svg
    width={16}
    height={16}
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth={1.5}
    aria-hidden="true"
  >
    {isDone ? <path d="m3 8.5 3.2 3.2L13 5" /> : <path d="M5.5 5.5h7v7h-7zM3.5 10.5v-7h7" />}
  </svg>
)
