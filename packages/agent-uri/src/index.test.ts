import { expect, it } from 'vitest'
import { AgentUriError, buildAgentUri, formatAgentUri, normalizeAgentUri, parseAgentUri } from './index.js'

it('behaves as the README and the examples in JSDoc say', () => {
  const uri = parseAgentUri('agent://did:web:example.com:agent:researcher/get-article?doi=10.1000/182')
  expect(uri.did).toBe('did:web:example.com:agent:researcher')
  expect(uri.path).toBe('/get-article')
  expect(uri.params).toEqual({ doi: '10.1000/182' })

  const canonical = 'agent://did%3Aweb%3Aexample.com%3Aagent%3Aresearcher/get-article?doi=10.1000/182'
  expect(formatAgentUri(uri)).toBe(canonical)
  const raw = 'agent://did:web:example.com:agent:researcher/get-article?doi=10.1000/182'
  expect(formatAgentUri(uri, { raw: true })).toBe(raw)
  const built = buildAgentUri({ host: 'h.example', path: '/p', params: { text: 'a&b' } })
  expect(built).toBe('agent://h.example/p?text=a%26b')
  expect(normalizeAgentUri('AGENT://Example.com:0443/%7euser')).toBe('agent://example.com:443/~user')
  expect(formatAgentUri({ ...parseAgentUri('agent://user:pw@h/p'), userinfo: null })).toBe('agent://h/p')

  expect(() => parseAgentUri('agent://h:65536/')).toThrow(AgentUriError)
})
