import { once } from 'node:events'
import { createServer } from 'node:net'

/** Whether no other program listens on the port; throws if it cannot be used for another reason. */
export async function isPortFree({ host, port }: { readonly host: string; readonly port: number }): Promise<boolean> {
  const probe = createServer()
  try {
    await once(probe.listen({ host, port }), 'listening')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false
    throw error
  }
  await new Promise((resolve) => probe.close(resolve))
  return true
}
