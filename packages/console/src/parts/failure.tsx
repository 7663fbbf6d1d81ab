import { Alert, Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { strings } from '../strings.js'

/** Shows what went wrong in the directory's own words, and offers to try again. */
export function Failure({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }): ReactNode {
  return (
    <Alert color="red" title={strings.common.failed} role="alert">
      {messageOf(error)}
      {onRetry && (
        <Button variant="light" color="red" size="xs" mt="sm" onClick={onRetry} display="block">
          {strings.common.retry}
        </Button>
      )}
    </Alert>
  )
}

/** `fetch` throws a TypeError if there is no connection; its own text differs between browsers. */
export const messageOf = (error: unknown): string =>
  error instanceof TypeError ? strings.common.unreachable : error instanceof Error ? error.message : String(error)
