import { describe, expect, it } from 'vitest'
import { LIMITS } from '../limits.js'
import { createQuestions } from './questions.js'

const question = { origin: 'https://a.example', agent: 'notes', capability: 'add', description: '' }
const never = new AbortController().signal

describe('questions', () => {
  it('are put again when the quiet time after a no is over', async () => {
    let time = 0
    let asked = 0
    const ask = async (): Promise<boolean> => ++asked > 1
    const questions = createQuestions({ ask, now: () => time })
    expect(await questions.put(question, never)).toBe(false)
    time = LIMITS.refusalMs - 1
    expect(await questions.put(question, never)).toBe(false)
    expect(asked).toBe(1)
    time = LIMITS.refusalMs
    expect(await questions.put(question, never)).toBe(true)
  })

  it('are one for all who ask the same, and end when the last of them has left', async () => {
    const signals: AbortSignal[] = []
    const ask = (_question: unknown, signal: AbortSignal): Promise<boolean> => {
      signals.push(signal)
      return new Promise(() => {})
    }
    const questions = createQuestions({ ask, now: () => 0 })
    const [first, second] = [new AbortController(), new AbortController()]
    const answers = [questions.put(question, first.signal), questions.put(question, second.signal)]
    expect(questions.list()).toEqual([question])
    first.abort()
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    second.abort()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(await Promise.all(answers)).toEqual([false, false])
    expect(questions.list()).toEqual([])
  })

  it('are left to others where nobody can ask', async () => {
    const ask = async (): Promise<boolean> => {
      throw new Error('no terminal')
    }
    const questions = createQuestions({ ask, now: () => 0 })
    const answer = questions.put(question, never)
    await Promise.resolve()
    expect(questions.allow({ ...question, capability: '*' })).toBe(true)
    expect(await answer).toBe(true)
  })
})
