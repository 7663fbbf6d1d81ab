import { expect } from 'vitest'
import type { TestResponse } from './directory.js'

export interface ExpectedError {
  readonly status: number
  /** The profile's error code (PROF §12). */
  readonly code?: string
  /** A JSON pointer or `?name` that the error must name. */
  readonly member?: string
  /** Text that the message must contain. */
  readonly says?: string | RegExp
}

/** Checks that the response is an error body that clients of every draft can read (C-68), with these contents. */
export function expectError(answer: TestResponse, expected: ExpectedError, hint = ''): void {
  const { status, headers, json } = answer
  const why = `${hint} → ${status} ${answer.text.slice(0, 300)}`
  expect(status, why).toBe(expected.status)
  expect(headers.get('content-type'), why).toMatch(/^application\/(problem\+)?json; charset=utf-8$/)
  expect(json, why).toMatchObject({
    type: expect.stringMatching(/^https?:\/\/.+\/problems\/[a-z-]+$/),
    title: expect.stringMatching(/./),
    status,
    detail: expect.stringMatching(/./),
    instance: expect.any(String),
    error: { code: expect.stringMatching(/^[A-Z][A-Za-z]+$/), message: json?.detail },
    code: expect.stringMatching(/^[a-z_]+$/),
    message: json?.detail,
    correlation_id: headers.get('x-request-id'),
  })
  if (expected.code !== undefined) expect(json.code, why).toBe(expected.code)
  if (expected.says !== undefined) expect(json.message, why).toMatch(expected.says)
  if (expected.member === undefined) return
  const named: string[] = (json.error.details ?? []).map(({ member }: { member: string }) => member)
  expect(named, why).toContain(expected.member)
  expect(json.message, why).toContain(expected.member)
}
