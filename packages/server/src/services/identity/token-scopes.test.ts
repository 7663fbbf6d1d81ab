import { describe, expect, it } from 'vitest'
import { scopesOf } from './token-scopes.js'

describe('scopesOf', () => {
  it('takes scope or scp by default', () => {
    expect(scopesOf({ scope: 'publish discover', groups: ['admin'] }, undefined)).toEqual(['publish', 'discover'])
    expect(scopesOf({ scp: ['publish'] }, undefined)).toEqual(['publish'])
  })

  it('maps the values of a nested claim, and ignores others', () => {
    const rules = [
      { claim: 'realm_access.roles', values: { publisher: ['publish', 'discover'], reader: ['discover'] } },
    ]
    const claims = { scope: 'admin', realm_access: { roles: ['publisher', 'reader', 'offline_access'] } }
    expect(scopesOf(claims, rules)).toEqual(['publish', 'discover'])
  })

  it('adds up several claims, one of them as it is', () => {
    const rules = [{ claim: 'scope' }, { claim: 'groups', values: { 'Agent Operators': ['admin'] } }]
    expect(scopesOf({ scope: 'discover', groups: ['Agent Operators', 'All'] }, rules)).toEqual(['discover', 'admin'])
  })

  it('finds claims with dots in their names', () => {
    const claims = { 'https://app.example/roles': ['a'], 'x.y': 'b', z: { 'v.w': ['c'] } }
    const rules = [{ claim: 'https://app.example/roles' }, { claim: 'x.y' }, { claim: ['z', 'v.w'] }]
    expect(scopesOf(claims, rules)).toEqual(['a', 'b', 'c'])
  })

  it('gives no scopes for absent claims and for names of Object.prototype', () => {
    const rules = [{ claim: 'a.b' }, { claim: '__proto__.constructor' }, { claim: 'roles', values: { x: ['admin'] } }]
    expect(scopesOf({ a: 'text', roles: ['constructor', 'toString', '__proto__'] }, rules)).toEqual([])
  })

  it('rejects a claim of the wrong type, and names it', () => {
    const rules = [{ claim: 'realm_access.roles' }]
    expect(() => scopesOf({ realm_access: { roles: { admin: true } } }, rules)).toThrow(
      expect.objectContaining({
        name: 'TokenError',
        code: 'invalid',
        message: expect.stringContaining('realm_access.roles'),
      }),
    )
  })
})
