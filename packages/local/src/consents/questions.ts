import { LIMITS } from '../limits.js'
import { LocalError } from '../local-error.js'
import { covers, matches, type Right, type RightFilter } from './consent.js'

/** What the person is asked: whether pages of an origin may do this. */
export interface Question extends Right {
  /** What the agent says that it is, for the person to judge; a program wrote it. */
  readonly description: string
}

/**
 * Asks the person; true: yes. The signal ends when nobody needs the answer any more: it was given elsewhere, or the
 * page has left.
 */
export type AskPerson = (question: Question, signal: AbortSignal) => Promise<boolean>

export interface QuestionsDeps {
  readonly ask: AskPerson
  readonly now: () => number
  /** The person said no, or nothing in time. */
  readonly onRefusal?: (question: Question) => void
}

/** Questions that wait for the person; the few that pages can cause. */
export interface Questions {
  list(): readonly Question[]
  /** The decision; false too where there is none in time, or the person has said no a short while ago. */
  put(question: Question, signal: AbortSignal): Promise<boolean>
  /** Yes to what this consent covers; true if somebody waited for it. The origin may ask again. */
  allow(consent: Right): boolean
  /** No to all that match; how many those were. */
  refuse(filter: RightFilter): number
}

interface Waiting {
  readonly question: Question
  readonly decision: Promise<boolean>
  readonly decide: (decision: boolean) => void
  /** Nobody needs the answer any more. */
  readonly withdraw: () => void
  /** Pages that wait for it; nobody is asked for those that have left. */
  waiters: number
}

export function createQuestions({ ask, now, onRefusal }: QuestionsDeps): Questions {
  const open = new Map<string, Waiting>()
  const quietUntil = new Map<string, number>()

  const start = (question: Question): Waiting => {
    let resolve: (decision: boolean) => void = () => {}
    const decision = new Promise<boolean>((done) => {
      resolve = done
    })
    const ended = new AbortController()
    /** After a no, the origin is not asked about for so many milliseconds. */
    const settle = (answer: boolean, quietMs: number): void => {
      open.delete(question.origin)
      ended.abort()
      clearTimeout(timer)
      if (!answer) keepQuiet(question.origin, quietMs)
      resolve(answer)
    }
    const isOpen = (): boolean => open.get(question.origin) === waiting
    const decide = (answer: boolean): void => {
      if (!isOpen()) return
      settle(answer, LIMITS.refusalMs)
      if (!answer) onRefusal?.(question)
    }
    const withdraw = (): void => {
      // A page may be loaded again, but not so often that it fills the terminal.
      if (isOpen()) settle(false, LIMITS.leavingMs)
    }
    const waiting: Waiting = { question, decision, decide, withdraw, waiters: 0 }
    open.set(question.origin, waiting)
    const timer = setTimeout(() => decide(false), LIMITS.consentMs)
    // Somebody who cannot ask leaves the question to those who answer by another way.
    ask(question, ended.signal).then(decide, () => {})
    return waiting
  }

  const keepQuiet = (origin: string, ms: number): void => {
    quietUntil.delete(origin)
    quietUntil.set(origin, now() + ms)
    const [oldest] = quietUntil.keys()
    if (quietUntil.size > LIMITS.consents && oldest !== undefined) quietUntil.delete(oldest)
  }

  return {
    list: () => Array.from(open.values(), ({ question }) => question),
    async put(question, signal) {
      if (now() < (quietUntil.get(question.origin) ?? 0)) return false
      const present = open.get(question.origin)
      if (present && !matches(present.question, question)) {
        throw new LocalError('rate_limited', 'the person is being asked about this origin already: wait for the answer')
      }
      if (!present && open.size >= LIMITS.questions) {
        throw new LocalError('rate_limited', 'the person is being asked about too many origins already')
      }
      const waiting = present ?? start(question)
      waiting.waiters++
      const leave = (): void => {
        waiting.waiters--
        if (waiting.waiters === 0) waiting.withdraw()
      }
      signal.addEventListener('abort', leave, { once: true })
      try {
        return await waiting.decision
      } finally {
        signal.removeEventListener('abort', leave)
      }
    },
    allow(consent) {
      quietUntil.delete(consent.origin)
      const found = [...open.values()].filter(({ question }) => covers(consent, question))
      for (const { decide } of found) decide(true)
      return found.length > 0
    },
    refuse(filter) {
      const found = [...open.values()].filter(({ question }) => matches(question, filter))
      for (const { decide } of found) decide(false)
      return found.length
    },
  }
}
