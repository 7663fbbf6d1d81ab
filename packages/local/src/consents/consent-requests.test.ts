import { describe, expect, it } from 'vitest'
import { LIMITS } from '../limits.js'
import { createConsentRequests } from './consent-requests.js'

const request = { origin: 'https://a.example', agent: 'notes', capability: 'add', description: '' }
const never = new AbortController().signal

describe('consent requests', () => {
  it('are refused without asking for some time after a refusal', async () => {
    let time = 0
    let asked = 0
    const ask = async (): Promise<boolean> => ++asked > 1
    const requests = createConsentRequests({ ask, monotonic: () => time })
    expect(await requests.submit(request, never)).toBe(false)
    time = LIMITS.refusalMs - 1
    expect(await requests.submit(request, never)).toBe(false)
    expect(asked).toBe(1)
    time = LIMITS.refusalMs
    expect(await requests.submit(request, never)).toBe(true)
  })

  it('are shared by all pages that make the same one, and withdrawn when the last page leaves', async () => {
    const signals: AbortSignal[] = []
    const ask = (_request: unknown, signal: AbortSignal): Promise<boolean> => {
      signals.push(signal)
      return new Promise(() => {})
    }
    const requests = createConsentRequests({ ask, monotonic: () => 0 })
    const [first, second] = [new AbortController(), new AbortController()]
    const decisions = [requests.submit(request, first.signal), requests.submit(request, second.signal)]
    expect(requests.list()).toEqual([request])
    first.abort()
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    second.abort()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(await Promise.all(decisions)).toEqual([false, false])
    expect(requests.list()).toEqual([])
  })

  it('stay open if asking fails, until they are allowed elsewhere', async () => {
    const ask = async (): Promise<boolean> => {
      throw new Error('no terminal')
    }
    const requests = createConsentRequests({ ask, monotonic: () => 0 })
    const decision = requests.submit(request, never)
    await Promise.resolve()
    expect(requests.list()).toEqual([request])
    requests.allow({ ...request, capability: '*' })
    expect(await decision).toBe(true)
  })
})
