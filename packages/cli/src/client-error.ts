import type { ClientError } from '@switchboard/client'

/** Whether the client threw an error. By its name: the class would load the client, also for commands without one. */
export const isClientError = (error: unknown): error is ClientError =>
  error instanceof Error && error.name === 'ClientError'
