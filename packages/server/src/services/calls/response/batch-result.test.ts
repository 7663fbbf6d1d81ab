import { DirectoryError } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { type ItemResult, toBatchResult } from './batch-result.js'

const ok = (value: number, isValid = true): ItemResult => ({ ok: true, value, isValid })
const failed = (code: 'timeout' | 'forbidden'): ItemResult => ({ ok: false, error: new DirectoryError(code, 'no') })

describe('toBatchResult', () => {
  it('has status 200 if all inputs succeeded, 207 if some did, and otherwise that of the first failure', () => {
    expect(toBatchResult([]).status).toBe(200)
    expect(toBatchResult([ok(1), ok(2)])).toEqual({ kind: 'json', status: 200, value: [1, 2], headers: {} })
    expect(toBatchResult([ok(1), failed('timeout')]).status).toBe(207)
    expect(toBatchResult([failed('forbidden'), failed('timeout')])).toMatchObject({
      status: 403,
      value: [{ error: { code: 'Forbidden', message: 'no' } }, { error: { code: 'Timeout', message: 'no' } }],
    })
  })

  it('sets X-Output-Valid to false if one output does not match its schema', () => {
    expect(toBatchResult([ok(1), ok(2, false)]).headers).toEqual({ 'x-output-valid': 'false' })
  })
})
