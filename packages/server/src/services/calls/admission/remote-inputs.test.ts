import type { JsonObject } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import type { Endpoint } from '../../../gateway/gateway.js'
import { completeEndpoints, readVariables } from './remote-inputs.js'

const remote = (url: string, source: JsonObject): Endpoint => ({ protocol: 'mcp', url, source })
const complete = (endpoint: Endpoint, variables: Record<string, string> = {}) =>
  completeEndpoints('m', [endpoint], { headers: {}, variables })

describe('the URL of a remote', () => {
  const inHost = remote('https://{host}:8443/{path}', { variables: { host: { isRequired: true }, path: {} } })

  it('has its variables filled in', () => {
    expect(complete(inHost, { host: 'a.example', path: 'x/y?z' })).toMatchObject([
      { url: 'https://a.example:8443/x%2Fy%3Fz' },
    ])
  })

  it.each(['a.example:1/x', 'u@b.example', 'a.example#', 'a.example?', '', 'a b', '\\\\b.example'])(
    'cannot be led elsewhere with the value %j',
    (host) => {
      expect(() => complete(inHost, { host, path: 'x' })).toThrow(/X-Agent-Variables does not fit the address/)
    },
  )

  it('keeps braces that name no variable', () => {
    const endpoint = remote('https://a.example/{x}?y={y}', { variables: { y: { default: '1' } } })
    expect(complete(endpoint)).toMatchObject([{ url: 'https://a.example/{x}?y=1' }])
  })

  it('needs all of its variables, required or not', () => {
    expect(() => complete(inHost, { host: 'a.example' })).toThrow('the agent "m" requires the variable path')
  })
})

describe('the headers of a remote', () => {
  it('are left out if they are optional and have no value, or are not for publishers to set', () => {
    const headers = [
      { name: 'X-A', value: 'a {v}', variables: { v: {} } },
      { name: 'X-B' },
      { name: 'Cookie', value: 'x' },
      { name: 'Mcp-Method', value: 'x' },
      { name: 'bad name', value: 'x' },
      { value: 'x' },
    ]
    expect(complete(remote('https://a.example/', { headers }))).toMatchObject([{ headers: {} }])
  })

  it('that are fixed cannot be changed by the caller', () => {
    const endpoint = remote('https://a.example/', { headers: [{ name: 'X-A', value: 'fixed' }] })
    expect(complete(endpoint, { 'X-A': 'mine' })).toMatchObject([{ headers: { 'x-a': 'fixed' } }])
  })
})

describe('completeEndpoints', () => {
  const needy = remote('https://a.example/', { headers: [{ name: 'X-A', isRequired: true }] })

  it('uses the endpoints that are complete', () => {
    const plain: Endpoint = { protocol: 'http', url: 'https://b.example/' }
    expect(completeEndpoints('m', [needy, plain], { headers: {} })).toEqual([plain])
  })

  it('takes a header of the credential for the one that is asked for', () => {
    expect(completeEndpoints('m', [needy], { headers: { 'x-a': 'k' } })).toMatchObject([{ headers: {} }])
  })

  it('names everything that is missing', () => {
    const headers = [
      { name: 'Authorization', isRequired: true, isSecret: true },
      { name: 'X-API-Key', isRequired: true },
    ]
    expect(() => complete(remote('https://a.example/{t}', { headers, variables: { t: {} } }))).toThrow(
      'requires the variable t, the header Authorization, the header X-API-Key: send X-Agent-Variables: t=… and ' +
        'X-Agent-Authorization and X-Agent-API-Key',
    )
  })
})

it('values that a header cannot contain are rejected', () => {
  expect(readVariables('a=1&b=%C3%A9')).toEqual({ a: '1', b: 'é' })
  expect(() => readVariables('a=x%0d%0ay')).toThrow(/X-Agent-Variables/)
})
