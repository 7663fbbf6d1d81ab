import { describe, expect, it } from 'vitest'
import { toMappedRequest } from './mapped-request.js'

const base = new URL('https://api.example/v1/')
const json = (value: object, headers = {}) => ({
  payload: { kind: 'json' as const, value: JSON.parse(JSON.stringify(value)) },
  headers,
})

describe('the request for an operation of OpenAPI', () => {
  it('has path, query and header parameters', () => {
    const mapping = { method: 'GET', path: '/a/{b}/c', parameters: { b: 'path', q: 'query', 'X-H': 'header' } }
    const { url, headers, payload } = toMappedRequest(mapping, json({ b: 'x/../y', q: [1, true], 'X-H': 'h' }), base)
    expect(url.href).toBe('https://api.example/v1/a/x%2F..%2Fy/c?q=1&q=true')
    expect(headers).toEqual({ 'x-h': 'h' })
    expect(payload).toBeUndefined()
  })

  it('cannot leave its path', () => {
    const mapping = { method: 'GET', path: '/{a}/b', parameters: { a: 'path' } }
    for (const a of ['.', '..', ''])
      expect(() => toMappedRequest(mapping, json({ a }), base)).toThrow('part of the path')
    expect(() => toMappedRequest(mapping, json({}), base)).toThrow('part of the path')
  })

  it('cannot leave the endpoint by its template', () => {
    for (const path of ['/../x', '/a/..', '/%2e%2E/x', '/a/./b', '/a\\..\\b'])
      expect(() => toMappedRequest({ method: 'GET', path, parameters: {} }, json({}), base)).toThrow(
        'leaves the endpoint',
      )
    const fine = toMappedRequest({ method: 'GET', path: '/a..b/.well-known/x', parameters: {} }, json({}), base)
    expect(fine.url.pathname).toBe('/v1/a..b/.well-known/x')
  })

  it('cannot set headers of the directory or of the credential', () => {
    const names = ['Authorization', 'Host', 'Cookie', 'X-Forwarded-For', 'Content-Length', 'x-request-id']
    const mapping = { method: 'GET', path: '/', parameters: Object.fromEntries(names.map((name) => [name, 'header'])) }
    const input = Object.fromEntries(names.map((name) => [name, 'mine']))
    const { headers } = toMappedRequest(mapping, json(input, { 'x-request-id': 'r1' }), base)
    expect(headers).toEqual({ 'x-request-id': 'r1' })
  })

  it('sends the API key where the agent wants it, and nowhere else', () => {
    const mapping = (place: string) => ({ method: 'GET', path: '/', parameters: {}, key: { place, name: 'appid' } })
    const call = json({ appid: 'not this' }, { 'x-api-key': 'secret' })
    const inQuery = toMappedRequest(mapping('query'), call, base)
    expect([inQuery.url.search, inQuery.headers]).toEqual(['?appid=secret', {}])
    expect(toMappedRequest(mapping('header'), call, base).headers).toEqual({ appid: 'secret' })
  })

  it('has the rest of the input, or one member, as its body', () => {
    const plain = { method: 'POST', path: '/', parameters: { id: 'query' } }
    expect(toMappedRequest(plain, json({ id: 1, a: [2] }), base).payload?.body).toBe('{"a":[2]}')
    expect(toMappedRequest({ ...plain, body: 'list' }, json({ id: 1, list: [2] }), base).payload?.body).toBe('[2]')
    const form = toMappedRequest({ ...plain, form: true }, json({ a: 'x y', b: [1, 2] }), base).payload
    expect(form).toEqual({ contentType: 'application/x-www-form-urlencoded', body: 'a=x+y&b=1&b=2' })
  })
})
