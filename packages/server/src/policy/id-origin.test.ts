import { expect, it } from 'vitest'
import { originOfId } from './id-origin.js'

it.each([
  ['https://agents.example.net/id/hr', 'https://agents.example.net'],
  ['https://Example.NET:8443/x', 'https://example.net:8443'],
  ['agent://example.com/planner', 'https://example.com'],
  ['agent+wss://example.com/planner', 'https://example.com'],
  ['did:web:example.com', 'https://example.com'],
  ['did:web:example.com%3A8443:agents:hr#key', 'https://example.com:8443'],
  ['translator', undefined],
  ['did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp', undefined],
  ['did:web:', undefined],
  ['agent+local://planner', undefined],
  ['agent+unix://socket', undefined],
  ['urn:example:agent', undefined],
  ['http://example.com/x', undefined],
  ['https://192.0.2.1/x', undefined],
  ['https://[2001:db8::1]/x', undefined],
  ['https://localhost/x', undefined],
  ['https://', undefined],
])('the origin that vouches for %s is %s', (id, expected) => {
  expect(originOfId(id, false)?.origin).toBe(expected)
})

it('in development, hosts on this machine can vouch for ids too', () => {
  expect(originOfId('agent://127.0.0.1:8080/x', true)?.origin).toBe('http://127.0.0.1:8080')
  expect(originOfId('http://localhost:8080/x', true)?.origin).toBe('http://localhost:8080')
  expect(originOfId('http://example.com/x', true)).toBeUndefined()
})
