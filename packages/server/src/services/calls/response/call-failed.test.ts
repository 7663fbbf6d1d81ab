import { DirectoryError, type JsonValue } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { type AgentResponse, GatewayError, type GatewayErrorCode } from '../../../gateway/gateway.js'
import { CallFailed, fromErrorInside, fromGateway, fromResponse } from './call-failed.js'

const response = (status: number, value: JsonValue, headers = {}): AgentResponse => {
  return { kind: 'json', status, value, headers, endpoint: { protocol: 'http', url: 'http://127.0.0.1' } }
}

describe('fromGateway', () => {
  it.each<[GatewayErrorCode, number]>([
    ['blocked', 502],
    ['loop', 508],
    ['unreachable', 502],
    ['timeout', 504],
    ['cancelled', 502],
    ['stopping', 503],
    ['bad_response', 502],
    ['too_large', 502],
    ['credential_refused', 502],
    ['not_invocable', 501],
  ])('maps %s to %i, hides internals, and keeps mayHaveRun', (code, status) => {
    for (const mayHaveRun of [true, false]) {
      const failed = fromGateway(new GatewayError(code, '10.0.0.1 refused', { mayHaveRun }), {})
      expect(failed).toBeInstanceOf(DirectoryError)
      expect(failed).toMatchObject({ status, mayHaveRun, message: expect.not.stringContaining('10.0.0.1') })
    }
  })

  it.each<[GatewayErrorCode, number]>([
    ['caller_busy', 429],
    ['agent_busy', 503],
    ['gateway_busy', 503],
    ['circuit_open', 503],
  ])('makes %s a %i with the gateway’s own reason', (code, status) => {
    const failed = fromGateway(new GatewayError(code, 'there are 7 calls in progress'), {})
    expect(failed).toMatchObject({ status, mayHaveRun: false, message: 'there are 7 calls in progress' })
  })

  it('sets retryAfter', () => {
    expect(fromGateway(new GatewayError('agent_busy', 'x', { retryAfter: 3 }), {})).toMatchObject({ retryAfter: 3 })
    expect(fromGateway(new GatewayError('circuit_open', 'x'), {})).toMatchObject({ retryAfter: expect.any(Number) })
  })

  it('returns other errors unchanged', () => {
    const other = new Error('a bug')
    expect(fromGateway(other, {})).toBe(other)
  })
})

const OF_CALLER = { isStored: false, challenge: 'Bearer realm="agent"' }

describe('fromResponse', () => {
  it('reads Retry-After in seconds and as a date', () => {
    expect(fromResponse(response(503, null, { 'retry-after': '7' }), OF_CALLER).retryAfter).toBe(7)
    const date = new Date(Date.now() + 60_000).toUTCString()
    expect(fromResponse(response(429, null, { 'retry-after': date }), OF_CALLER).retryAfter).toBeGreaterThan(50)
    expect(fromResponse(response(503, null, { 'retry-after': 'soon' }), OF_CALLER).retryAfter).toBeGreaterThan(0)
    expect(fromResponse(response(500, null), OF_CALLER).retryAfter).toBeUndefined()
  })

  it('sets mayHaveRun to false if the agent was unavailable', () => {
    expect(fromResponse(response(503, null), OF_CALLER).mayHaveRun).toBe(false)
    expect(fromResponse(response(429, null), OF_CALLER).mayHaveRun).toBe(false)
    expect(fromResponse(response(500, null), OF_CALLER).mayHaveRun).toBe(true)
  })

  it.each([
    { error: 'text' },
    { error: { code: 'A' } },
    { error: { code: '', message: 'x' } },
    { error: { code: 7, message: 'x' } },
    [{ error: { code: 'A', message: 'x' } }],
    'error',
    null,
  ])('does not treat %j as an error object', (value) => {
    expect(fromResponse(response(400, value), OF_CALLER).members).toEqual({})
  })

  it('hides the message of a 5xx that looks like a stack trace', () => {
    for (const message of ['a\nb', 'x'.repeat(1001), 'thrown at run.js:12']) {
      expect(fromResponse(response(500, { error: { code: 'A', message } }), OF_CALLER).members).toEqual({})
      expect(fromResponse(response(400, { error: { code: 'A', message } }), OF_CALLER).members).not.toEqual({})
    }
  })
})

describe('fromErrorInside', () => {
  it('recognises an error object and nothing else', () => {
    expect(fromErrorInside({ error: { code: 'A', message: 'x' } })).toBeInstanceOf(CallFailed)
    expect(fromErrorInside({ error: null, text: 'a' })).toBeUndefined()
    expect(fromErrorInside([])).toBeUndefined()
  })
})
