import type { Agent } from './catalog.js'

/** Increment it when the rendering of a view changes, so that caches drop the old form. */
const VIEW_VERSION = '1'

/**
 * The entity tag of one view of an agent. The revision comes first because If-Match compares only that, whichever view
 * the client has read; then everything else that can change the text.
 */
export function entityTag(agent: Agent, view: string, redacted: boolean): string {
  const expires = agent.expiresAt === undefined ? '' : agent.expiresAt.toString(36)
  const received = view === 'profile' ? agent.stored.receivedAt.toString(36) : ''
  return `"${agent.stored.revision}-${VIEW_VERSION}${view}${redacted ? '.r' : ''}.${expires}${received}${agent.findings.tag && `.${agent.findings.tag}`}"`
}

/** Whether an If-Match header names the agent's current revision, in any view. */
export function matchesRevision(ifMatch: string, agent: Agent): boolean {
  if (ifMatch.trim() === '*') return true
  return ifMatch.split(',').some((tag) => /^\s*"(\d+)-/.exec(tag)?.[1] === String(agent.stored.revision))
}
