import { Button, Card, Group, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Failure } from '../../parts/failure.js'
import type { Action } from './use-action.js'

export interface FormCardProps {
  readonly title: string
  readonly submit: string
  readonly action: Action
  readonly onSubmit: () => void
  readonly children: ReactNode
}

/** A form in a box; errors are shown in the directory's own words. */
export function FormCard({ title, submit, action, onSubmit, children }: FormCardProps): ReactNode {
  return (
    <Card withBorder>
      <form
        aria-label={title}
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit()
        }}
      >
        <Stack gap="sm">
          <Title order={3} size="h4">
            {title}
          </Title>
          {children}
          {action.error !== undefined && <Failure error={action.error} />}
          <Group>
            <Button type="submit" loading={action.isPending}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  )
}
