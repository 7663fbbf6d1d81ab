import { Center, Loader, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import { strings } from '../strings.js'

/** Shown while a page or its contents are loaded. */
export function Loading(): ReactNode {
  return (
    <Center py="xl" role="status">
      <Loader type="dots" />
      <VisuallyHidden>{strings.common.loading}</VisuallyHidden>
    </Center>
  )
}
