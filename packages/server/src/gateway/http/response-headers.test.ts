import { describe, expect, it } from 'vitest'
import { forwardedHeaders } from './response-headers.js'

const url = new URL('https://agent.example/call')
const forwarded = (headers: Record<string, string>, status = 200) => forwardedHeaders(headers, { status, url })

describe('headers of an agent', () => {
  it('are forwarded if they describe the output or continue the conversation', () => {
    const headers = {
      'content-disposition': 'attachment; filename="a.pdf"',
      'content-language': 'de-AT, en',
      'x-agent-version': '2.0',
      'x-session-id': 's1',
      'x-task-id': 't1',
    }
    expect(forwarded(headers)).toEqual(headers)
  })

  it('are dropped if their value is not what it should be', () => {
    const headers = {
      'content-disposition': 'form-data; name="x"',
      'content-language': '<script>',
      'x-agent-version': 'x'.repeat(2000),
      'x-session-id': 'caf\xe9',
      'x-task-id': '',
    }
    expect(forwarded(headers)).toEqual({})
  })

  it.each([
    ['/things/1', 'https://agent.example/things/1'],
    ['https://agent.example:443/x', 'https://agent.example/x'],
    ['https://other.example/x', undefined],
    ['//other.example/x', undefined],
    ['http://agent.example/x', undefined],
    ['https://user:secret@agent.example/x', undefined],
    ['javascript:alert(1)', undefined],
    ['http://[', undefined],
  ])('AIDIP-5.2-01 name the created resource only at the agent itself: %s', (location, expected) => {
    for (const status of [201, 202]) expect(forwarded({ location }, status).location).toBe(expected)
    for (const status of [200, 401, 503]) expect(forwarded({ location }, status)).toEqual({})
  })

  it('say when to retry only if the call failed', () => {
    expect(forwarded({ 'retry-after': '7' }, 503)).toEqual({ 'retry-after': '7' })
    expect(forwarded({ 'retry-after': '7' }, 200)).toEqual({})
  })
})
