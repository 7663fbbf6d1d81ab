import { readRecord } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import type { StoredGrant } from '../store/store.js'
import type { Caller } from './caller.js'
import { assertMayInvoke, type Callable } from './invocation.js'

const callable = (visibility: string, marks: Callable['stored']['marks'] = {}): Callable => {
  const record = readRecord(
    'aidip',
    { name: 'A', description: 'a', endpoint: 'https://a.example', visibility, tags: ['hr'] },
    'a',
  )
  return { record, shown: record, owner: 'owner', status: 'active', stored: { marks } }
}
const caller = (subject: string, ...scopes: string[]): Caller => ({
  subject,
  kind: 'key',
  scopes: new Set(scopes),
  address: '::1',
  requestId: 'r',
})
const grant = (more: Partial<StoredGrant>): StoredGrant => ({
  id: 'g',
  subject: 's',
  scopes: ['invoke'],
  createdAt: 0,
  ...more,
})

const may = (agent: Callable, who: Caller, ...grants: StoredGrant[]): boolean => {
  try {
    assertMayInvoke(agent, who, (subject) => grants.filter((each) => each.subject === subject))
    return true
  } catch {
    return false
  }
}

describe('assertMayInvoke', () => {
  it('C-95 requires the invoke scope of every caller, including the owner', () => {
    expect(may(callable('public'), caller('s'))).toBe(false)
    expect(may(callable('public'), caller('owner', 'publish'))).toBe(false)
    expect(may(callable('public'), caller('s', 'invoke'))).toBe(true)
    expect(may(callable('private'), caller('s', 'admin'))).toBe(true)
  })

  it.each(['restricted', 'private'])(
    'C-95 requires an invoke grant for the current owner if the agent is %s',
    (visibility) => {
      const who = caller('s', 'invoke')
      const agent = callable(visibility)
      expect(may(agent, who)).toBe(false)
      expect(may(agent, who, grant({ agent: { id: 'a', owner: 'owner' }, scopes: ['discover'] }))).toBe(false)
      expect(may(agent, who, grant({ agent: { id: 'a', owner: 'former' } }))).toBe(false)
      expect(may(agent, who, grant({ agent: { id: 'b', owner: 'owner' } }))).toBe(false)
      expect(may(agent, who, grant({ agent: { id: 'a', owner: 'owner' }, subject: 'other' }))).toBe(false)
      expect(may(agent, who, grant({ agent: { id: 'a', owner: 'owner' } }))).toBe(true)
      expect(may(agent, who, grant({ tag: 'hr' }))).toBe(true)
      expect(may(agent, caller('s', 'discover'), grant({ tag: 'hr' }))).toBe(false)
      expect(may(agent, caller('owner', 'invoke'))).toBe(true)
    },
  )

  it('allows only administrators to call an agent marked unsafe', () => {
    const unsafe = callable('public', { unsafe: true })
    expect(may(unsafe, caller('owner', 'invoke'))).toBe(false)
    expect(may(unsafe, caller('s', 'admin'))).toBe(true)
  })
})
