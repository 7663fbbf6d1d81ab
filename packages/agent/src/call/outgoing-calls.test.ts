import { describe, expect, it } from 'vitest'
import { audienceOf } from './outgoing-calls.js'

describe('audienceOf', () => {
  it.each([
    ['https://a.example/translate?text=x', 'translate', 'https://a.example'],
    ['https://a.example/planner/plan/trip', 'plan/trip', 'https://a.example/planner'],
    ['wss://a.example/', 'translate', 'https://a.example'],
    ['https://a.example/invoke', undefined, 'https://a.example/invoke'],
    ['https://a.example/com.example%3Aplan', 'com.example:plan', 'https://a.example'],
  ])('uses the agent, not its capability, as the audience of a call to %s', (url, capability, audience) => {
    expect(audienceOf(url, capability)).toBe(audience)
  })
})
