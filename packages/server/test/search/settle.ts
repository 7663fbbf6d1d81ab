import { setTimeout as sleep } from 'node:timers/promises'
import type { TestDirectory } from '../support/directory.js'

/** Waits until every agent is embedded. */
export async function settle(directory: TestDirectory): Promise<void> {
  for (;;) {
    const { json } = await directory.get('/health/ready')
    if (json.index.pending === 0) return
    await sleep(20)
  }
}
