import { readRecord } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import type { FederatedCopy } from '../store/store.js'
import { chooseCopy, PEER_DEFAULTS, type Peer, peerPolicyProblem, stateOfCopy, weightOf } from './federation.js'

const peer = (name: string, changes: Partial<Peer> = {}): Peer => ({
  ...PEER_DEFAULTS,
  name,
  url: `https://${name}.example`,
  ...changes,
})

const copy = (from: string, service: string, changes: Partial<FederatedCopy> = {}, hops = 1): FederatedCopy => ({
  peer: from,
  agent: 'a',
  state: 'listed',
  format: 'aidip',
  document: {},
  origin: {
    peer: from,
    service,
    authority: service,
    path: Array<string>(hops).fill(service),
    received_at: '',
    freshness: {},
  },
  seenAt: 0,
  ...changes,
})

const choose = (copies: FederatedCopy[], peers: Peer[], shown?: string, isHeeded = (_copy: FederatedCopy) => true) =>
  chooseCopy(copies, { shown, peerOf: (name) => peers.find((each) => each.name === name), isHeeded, now: 1000 })?.peer

describe('the choice between copies of an agent', () => {
  it('prefers the peer that is trusted more, then the shorter path, then the fresher copy', () => {
    const peers = [peer('b'), peer('c', { trust: 'full' }), peer('d')]
    expect(choose([copy('b', 'x'), copy('c', 'x', {}, 3)], peers)).toBe('c')
    expect(choose([copy('b', 'x', {}, 2), copy('d', 'x')], peers)).toBe('d')
    const fresh = copy('d', 'x')
    const received = { ...fresh, origin: { ...fresh.origin, freshness: { received_at: '2026-01-02T00:00:00Z' } } }
    expect(choose([copy('b', 'x'), received], peers)).toBe('d')
  })

  it('prefers the latest document of one origin, whatever path its peer claims', () => {
    const peers = [peer('b'), peer('c')]
    const at = (from: string, service: string, indexed_at: string, hops: number) => {
      const { origin, ...rest } = copy(from, service, {}, hops)
      return { ...rest, origin: { ...origin, freshness: { indexed_at } } }
    }
    const [old, latest] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z']
    expect(choose([at('b', 'x', old, 1), at('c', 'x', latest, 3)], peers)).toBe('c')
    expect(choose([at('b', 'x', old, 1), at('c', 'y', latest, 3)], peers)).toBe('b')
  })

  it('leaves out copies of peers that may not speak for the origin', () => {
    const peers = [peer('b'), peer('c')]
    expect(choose([copy('b', 'x'), copy('c', 'x', {}, 2)], peers, 'x', ({ peer }) => peer === 'c')).toBe('c')
  })

  it('keeps the agent that is shown if another origin uses its id, unless that peer is trusted more', () => {
    const peers = [peer('b'), peer('c'), peer('d', { trust: 'full' })]
    expect(choose([copy('b', 'x', {}, 2), copy('c', 'y')], peers, 'x')).toBe('b')
    expect(choose([copy('b', 'x', {}, 2), copy('c', 'y')], peers, 'y')).toBe('c')
    expect(choose([copy('b', 'x'), copy('d', 'y')], peers, 'x')).toBe('d')
  })

  it('leaves out copies that have expired, were last listed too long ago, wait for review, were rejected, or come from a peer without trust', () => {
    const lost = peer('l', { keepSeconds: 1 })
    const peers = [peer('b'), lost, peer('q', { trust: 'quarantine' }), peer('n', { trust: 'none' })]
    for (const excluded of [
      copy('b', 'x', { expiresAt: 1000 }),
      copy('l', 'x'),
      copy('b', 'x', { state: 'rejected' }),
      copy('q', 'x', { state: 'quarantined' }),
      copy('q', 'x', { state: 'listed' }),
      copy('n', 'x'),
      copy('unknown', 'x'),
    ])
      expect(choose([excluded], peers)).toBeUndefined()
    expect(choose([copy('q', 'x', { state: 'accepted' })], peers)).toBe('q')
  })
})

describe('the policy for a peer', () => {
  it('limits its agents by tag and by publisher or origin', () => {
    const record = readRecord('aidip', { name: 'a', tags: ['law'], publisher: 'Acme Ltd' }, 'a')
    expect(peerPolicyProblem(peer('b'), record, 'b.example')).toBeUndefined()
    expect(peerPolicyProblem(peer('b', { tags: ['law'] }), record, 'b.example')).toBeUndefined()
    expect(peerPolicyProblem(peer('b', { tags: ['art'] }), record, 'b.example')).toContain('tags')
    expect(peerPolicyProblem(peer('b', { publishers: ['Acme*'] }), record, 'b.example')).toBeUndefined()
    expect(peerPolicyProblem(peer('b', { publishers: ['b.example'] }), record, 'b.example')).toBeUndefined()
    expect(peerPolicyProblem(peer('b', { publishers: ['Other'] }), record, 'b.example')).toContain('publisher')
  })

  it('reviews a changed document in quarantine again, and keeps a rejection', () => {
    const strict = peer('q', { trust: 'quarantine' })
    expect(stateOfCopy(strict, undefined, true)).toBe('quarantined')
    expect(stateOfCopy(strict, 'accepted', false)).toBe('accepted')
    expect(stateOfCopy(strict, 'accepted', true)).toBe('quarantined')
    expect(stateOfCopy(strict, 'rejected', true)).toBe('rejected')
    expect(stateOfCopy(peer('b'), 'rejected', true)).toBe('rejected')
    expect(stateOfCopy(peer('b'), 'quarantined', false)).toBe('listed')
  })

  it('weighs scores by trust unless a weight is set', () => {
    expect(weightOf(peer('b', { trust: 'full' }))).toBe(1)
    expect(weightOf(peer('b'))).toBeLessThan(1)
    expect(weightOf(peer('b', { rankWeight: 0.3 }))).toBe(0.3)
  })
})
