import { Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Loaded } from '../../app/use-load.js'
import { Failure } from '../../parts/failure.js'
import { Loading } from '../../parts/loading.js'

export interface SectionProps<T> {
  readonly title: string
  /** What this is, in a sentence or two. */
  readonly intro: string
  readonly loaded: Loaded<T>
  /** Shown above the contents, also while these are loaded. */
  readonly tools?: ReactNode
  readonly children: (value: T) => ReactNode
}

/** One part of the pages for operators: title, explanation, and what is loaded. */
export function Section<T>({ title, intro, loaded, tools, children }: SectionProps<T>): ReactNode {
  const { value, error, isLoading, reload } = loaded
  return (
    <Stack component="section" aria-label={title}>
      <div>
        <Title order={2}>{title}</Title>
        <Text c="dimmed" maw="70ch">
          {intro}
        </Text>
      </div>
      {tools}
      {error !== undefined && <Failure error={error} onRetry={reload} />}
      {value !== undefined ? children(value) : isLoading && <Loading />}
    </Stack>
  )
}
