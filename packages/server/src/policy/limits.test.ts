import { expect, it } from 'vitest'
import { type LimitValues, limitFor } from './limits.js'

const RULES = new Map<string, LimitValues>([
  ['subject:alice', { agents: 5 }],
  ['scope:publish', { agents: 10, open_tasks: 1 }],
  ['scope:invoke', { open_tasks: 3 }],
  ['agent:alice', { calls_per_day: 1 }],
])

it('the rule for a subject comes before those for its scopes, and the highest of those counts', () => {
  const scopes = ['publish', 'invoke']
  expect(limitFor(RULES, 'alice', scopes, 'agents')).toEqual({ value: 5, rule: 'subject:alice' })
  expect(limitFor(RULES, 'bob', scopes, 'agents')).toEqual({ value: 10, rule: 'scope:publish' })
  expect(limitFor(RULES, 'alice', scopes, 'open_tasks')).toEqual({ value: 3, rule: 'scope:invoke' })
  expect(limitFor(RULES, 'bob', [], 'agents')).toBeUndefined()
  expect(limitFor(RULES, 'alice', scopes, 'calls_per_day')).toBeUndefined()
})
