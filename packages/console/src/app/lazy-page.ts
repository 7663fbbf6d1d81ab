import { type ComponentType, lazy } from 'react'

/**
 * A page in a file of its own.
 *
 * @example
 * lazyPage(async () => (await import('../pages/agent/agent-page.js')).AgentPage)
 */
export const lazyPage = (load: () => Promise<ComponentType>): ComponentType =>
  lazy(async () => ({ default: await load() }))
