import type { JsonObject } from '@switchboard/protocol'
import fc from 'fast-check'
import { aidipAgent, fixture } from '../support/documents.js'

/** Who reads: nobody in particular, a subject without agents or grants, a publisher, and a subject with grants. */
export const CALLERS = ['anon', 'sam', 'ann', 'gus'] as const
export type CallerName = (typeof CALLERS)[number]

/** Agents by id, and who publishes them. Those whose id starts with "hid" are private. */
export const OWNERS: Readonly<Record<string, 'ann' | 'ben'>> = {
  'open-1': 'ann',
  'open-2': 'ben',
  'open-3': 'ann',
  'hid-1': 'ann',
  'hid-2': 'ben',
  'hid-3': 'ben',
}
export const IDS = Object.keys(OWNERS)

/** One change of the directory. */
export type Step =
  | { readonly kind: 'put'; readonly id: string; readonly format: Format; readonly content: Content }
  /** An agent that was public becomes private; the next put publishes it again. */
  | { readonly kind: 'hide'; readonly id: string }
  | { readonly kind: 'refresh' | 'remove'; readonly id: string }
  | { readonly kind: 'mark'; readonly id: string; readonly marks: JsonObject }
  | { readonly kind: 'grant'; readonly subject: string; readonly agent?: string; readonly tag?: string }
  | { readonly kind: 'revoke'; readonly subject: string }

export type Format = 'aidip' | 'profile' | 'directory'

export interface Content {
  readonly words: string
  readonly tags: readonly string[]
  readonly visibility: 'public' | 'restricted'
  /** Whether a part of the document is private. */
  readonly isPartlyPrivate: boolean
}

/** Changes in one history. */
export const MAX_STEPS = 12

const anyId = fc.constantFrom(...IDS)
const content: fc.Arbitrary<Content> = fc.record({
  words: fc.constantFrom('translates contracts', 'translates letters', 'reads contracts aloud', 'quokka keeper'),
  tags: fc.subarray(['red', 'blue']),
  visibility: fc.constantFrom('public', 'public', 'restricted'),
  isPartlyPrivate: fc.boolean(),
})
const marks = fc.constantFrom<JsonObject[]>(
  { unsafe: true },
  { quality_score: 4 },
  { status: 'inactive' },
  { status: null },
)
const subjects = fc.constantFrom('gus', 'sam2')
const put = fc.record({
  kind: fc.constant('put' as const),
  id: anyId,
  format: fc.constantFrom<Format[]>('aidip', 'profile', 'directory'),
  content,
})

export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: put },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('refresh' as const, 'remove' as const), id: anyId }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('hide' as const), id: anyId }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('mark' as const), id: anyId, marks }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('grant' as const), subject: subjects, agent: anyId }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('grant' as const),
        subject: subjects,
        tag: fc.constantFrom('red', 'blue'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const), subject: subjects }) },
  ),
  { minLength: 1, maxLength: MAX_STEPS },
)

/** The document of a step. Its id, words and tags are the same in every format, and its version increases. */
export function documentOf(
  { id, format, content }: Extract<Step, { kind: 'put' }>,
  at: number,
  isHidden: boolean,
): JsonObject {
  const { words, tags, isPartlyPrivate } = content
  const shared = {
    name: `Agent ${id}`,
    description: `An agent that ${words}.`,
    version: `1.0.${at}`,
    visibility: isHidden ? 'private' : content.visibility,
    notes: `notes about ${words}`,
    ...(isPartlyPrivate && { private: ['notes', 'name'] }),
  }
  if (format === 'aidip') return aidipAgent({ id, ...shared, tags: [...tags] })
  if (format === 'profile') return fixture('FX-D0', { id, ...shared, tags: [...tags] })
  const capabilities = [{ name: 'probe', type: 'tool', tags: [...tags] }]
  return fixture('FX-SUM', { ...shared, tags: [...tags], capabilities })
}

/** A step and when it happens. */
export interface Timed {
  readonly at: number
  readonly step: Step
}

/** What the model knows about an agent. */
interface Known {
  readonly isPrivate: boolean
  readonly tags: readonly string[]
}

/** The steps that have an effect, what is there in the end, and what was there before it was removed. */
export function follow(history: readonly Step[]): {
  done: Timed[]
  agents: Map<string, Known>
  removed: Map<string, Known>
  grants: Step[]
} {
  const agents = new Map<string, Known>()
  const removed = new Map<string, Known>()
  let grants: Step[] = []
  const hasEffect = (step: Step): boolean => {
    if (step.kind === 'revoke') {
      grants = grants.filter((grant) => grant.kind === 'grant' && grant.subject !== step.subject)
      return true
    }
    if (step.kind === 'grant') {
      if (step.agent !== undefined && !agents.has(step.agent)) return false
      grants = [...grants, step]
      return true
    }
    const known = agents.get(step.id)
    const isHidden = step.id.startsWith('hid')
    switch (step.kind) {
      case 'put':
        agents.set(step.id, { isPrivate: isHidden, tags: step.content.tags })
        return true
      case 'hide':
        if (!known || known.isPrivate) return false
        agents.set(step.id, { ...known, isPrivate: true, tags: [] })
        return true
      case 'remove':
        if (known) removed.set(step.id, known)
        return agents.delete(step.id)
      default:
        return known !== undefined
    }
  }
  /**
   * A hidden agent that is registered again has the tags that it was removed with: whoever has a grant for a tag may know
   * of the removal, whatever the new tags are.
   */
  const withTagsOfRemoved = (step: Step): Step => {
    const before = step.kind === 'put' && step.id.startsWith('hid') ? removed.get(step.id) : undefined
    return step.kind === 'put' && before ? { ...step, content: { ...step.content, tags: before.tags } } : step
  }
  const done = history.flatMap((each, at) => {
    const step = withTagsOfRemoved(each)
    return hasEffect(step) ? [{ at, step }] : []
  })
  return { done, agents, removed, grants }
}

/** The same history without anything that the caller does not see in the end. */
export function withoutHidden(history: readonly Step[], caller: CallerName): Timed[] {
  const { done, agents, removed, grants } = follow(history)
  const isGranted = (id: string, { tags }: Known): boolean =>
    grants.some(
      (grant) =>
        grant.kind === 'grant' &&
        grant.subject === caller &&
        (grant.agent === id || (grant.tag !== undefined && tags.includes(grant.tag))),
    )
  const isHidden = (id: string): boolean => {
    // Whoever saw an agent may know that it was removed.
    const known = agents.get(id) ?? removed.get(id)
    if (!known) return id.startsWith('hid')
    return known.isPrivate && OWNERS[id] !== caller && !isGranted(id, known)
  }
  const hiding = new Set<string>()
  const shown = (step: Step): Step | undefined => {
    if (step.kind === 'revoke') return step.subject === caller ? step : undefined
    if (step.kind === 'grant') {
      const isKept = step.subject === caller && (step.agent === undefined || !isHidden(step.agent))
      return isKept ? step : undefined
    }
    if (!isHidden(step.id)) return step
    if (step.id.startsWith('hid')) return undefined
    // To this caller, an agent that becomes private disappears.
    if (step.kind === 'hide') {
      hiding.add(step.id)
      return { kind: 'remove', id: step.id }
    }
    if (!hiding.has(step.id)) return step
    if (step.kind === 'put' || step.kind === 'remove') hiding.delete(step.id)
    return step.kind === 'put' ? step : undefined
  }
  return done.flatMap(({ at, step }) => {
    const kept = shown(step)
    return kept ? [{ at, step: kept }] : []
  })
}
