import type { Agent } from './catalog.js'

/** Increment it when the rendering of a view changes, so that caches drop the old form. */
const VIEW_VERSION = '1'

/**
 * The entity tag of one view of an agent. The time of its last change comes first because If-Match compares only that,
 * whichever view the client has read; then everything else that can change the text. The revision would reveal how many
 * changes other agents had, hidden ones too.
 */
export function entityTag(agent: Agent, view: string, redacted: boolean): string {
  const expires = agent.expiresAt === undefined ? '' : agent.expiresAt.toString(36)
  const received = view === 'profile' ? agent.stored.receivedAt.toString(36) : ''
  return `"${changeTag(agent)}-${VIEW_VERSION}${view}${redacted ? '.r' : ''}.${expires}${received}${agent.findings.tag && `.${agent.findings.tag}`}"`
}

/** `timeOfChange` makes it different for every change of the agent. */
const changeTag = ({ stored }: Agent): string => stored.modifiedAt.toString(36)

/** Whether an If-Match header names the agent's last change, in any view. */
export function matchesRevision(ifMatch: string, agent: Agent): boolean {
  if (ifMatch.trim() === '*') return true
  return ifMatch.split(',').some((tag) => /^\s*"([a-z\d]+)-/.exec(tag)?.[1] === changeTag(agent))
}

/** The time of a change: later than the change before, even if both are in one millisecond or the clock was set back. */
export const timeOfChange = (now: number, lastChange: number | undefined): number =>
  Math.max(now, (lastChange ?? 0) + 1)
