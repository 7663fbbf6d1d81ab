import { describe, expect, it } from 'vitest'
import { createFailureGroups } from './failure-groups.js'

const failed = (from: string, message: string) => ({ from, status: 'failed' as const, message })

describe('the failures of an import', () => {
  it('are counted by reason, with the first documents, whatever names and numbers the messages contain', () => {
    const groups = createFailureGroups()
    for (let n = 1; n <= 500; n++)
      groups.add(failed(`a.ndjson:${n}`, `the name "agent-${n}" belongs to another publisher`))
    groups.add(failed('a.ndjson:501', '/name is required'))
    groups.add(failed('b.ndjson:1', 'the line is longer than 300000 characters'))
    groups.add(failed('b.ndjson:9', 'the line is longer than 300000 characters'))
    expect(groups.lines()).toEqual([
      '500 documents failed (a.ndjson:1, a.ndjson:2, a.ndjson:3 and 497 more): the name "agent-1" belongs to another publisher',
      'a.ndjson:501: /name is required',
      '2 documents failed (b.ndjson:1, b.ndjson:9): the line is longer than 300000 characters',
    ])
  })

  it('need little memory, even if every document fails for a reason of its own', () => {
    const groups = createFailureGroups()
    for (let n = 0; n < 5000; n++)
      groups.add(failed(`a:${n}`, `reason ${'abcdefghijklmnopqrstuvwxyz'.slice(n % 26)}${'x'.repeat(n)}`))
    expect(groups.lines().length).toBeLessThanOrEqual(101)
    expect(groups.lines().at(-1)).toMatch(
      /^4900 documents failed \(a:100, a:101, a:102 and 4897 more\): various reasons$/,
    )
  })
})
