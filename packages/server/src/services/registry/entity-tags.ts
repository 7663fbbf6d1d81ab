import type { Agent } from './catalog.js'

/** Changes when views are written in another way, so that no cache keeps the old way for ever. */
const VIEW_VERSION = '1'

/**
 * The entity tag of one view of an agent: revision first, because that is what If-Match compares, whichever view the
 * client had read; then all else that can change the text.
 */
export function entityTag(agent: Agent, view: string, redacted: boolean): string {
  const ends = agent.expiresAt === undefined ? '' : agent.expiresAt.toString(36)
  const heard = view === 'profile' ? agent.stored.receivedAt.toString(36) : ''
  return `"${agent.stored.revision}-${VIEW_VERSION}${view}${redacted ? '.r' : ''}.${ends}${heard}"`
}

/** Whether an If-Match header names the agent's present revision, in any of its views. */
export function matchesRevision(ifMatch: string, agent: Agent): boolean {
  if (ifMatch.trim() === '*') return true
  return ifMatch.split(',').some((tag) => /^\s*"(\d+)-/.exec(tag)?.[1] === String(agent.stored.revision))
}
