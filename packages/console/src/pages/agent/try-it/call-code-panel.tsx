import { Stack, Tabs, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { CodeBlock } from '../../../parts/code-block.js'
import { strings } from '../../../strings.js'
import { escapeDeceptive } from '../shown-text.js'
import { type CallRecipe, INPUT_FILE, isInFile, toCommand, toCurl, toTypeScript } from './call-code.js'

const { tryIt: words } = strings

const LANGUAGES = [
  ['curl', toCurl],
  ['typescript', toTypeScript],
  ['command', toCommand],
] as const

/** The same call for a terminal or a program, to copy. */
export function CallCode({ recipe }: { readonly recipe: CallRecipe }): ReactNode {
  return (
    <Stack gap="xs" component="section" aria-label={words.code}>
      <Text fw={600} size="sm">
        {words.code}
      </Text>
      <Tabs defaultValue="curl" keepMounted={false}>
        <Tabs.List aria-label={words.code}>
          {LANGUAGES.map(([name]) => (
            <Tabs.Tab key={name} value={name}>
              {words[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {LANGUAGES.map(([name, write]) => (
          <Tabs.Panel key={name} value={name} pt="xs">
            <CodeBlock label={words[name]} text={escapeDeceptive(write(recipe))} />
          </Tabs.Panel>
        ))}
      </Tabs>
      <Text size="xs" c="dimmed">
        {[
          words.codeNote,
          ...(isInFile(recipe) ? [words.inFile(INPUT_FILE)] : []),
          ...(recipe.mode === 'later' ? [words.commandDeferred] : []),
        ].join(' ')}
      </Text>
    </Stack>
  )
}
