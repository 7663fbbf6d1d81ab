import { createInterface, type Interface } from 'node:readline'
import { toDisplayText } from '@switchboard/client'
import type { AskForConsent, ConsentRequest } from '@switchboard/local'

export interface PromptDeps {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  /** False: nobody sits there; how to answer is told, and the answer comes from elsewhere. */
  readonly isAsking: boolean
}

/** Asks for consent in the terminal of the runtime, one question at a time. */
export interface ConsentPrompt {
  readonly ask: AskForConsent
  close(): void
}

export function createConsentPrompt({ input, output, isAsking }: PromptDeps): ConsentPrompt {
  let lines: Interface | undefined
  let last: Promise<unknown> = Promise.resolve()

  const answerOf = (signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      lines ??= createInterface({ input, terminal: false })
      const reading = lines
      const end = (isYes: boolean): void => {
        reading.off('line', take)
        signal.removeEventListener('abort', leave)
        resolve(isYes)
      }
      // Whatever is not a clear yes is a no; an empty line is no answer.
      const take = (line: string): void => {
        if (line.trim() !== '') end(/^y(es)?$/i.test(line.trim()))
      }
      const leave = (): void => {
        output.write('(answered elsewhere, or the page has left)\n')
        end(false)
      }
      reading.on('line', take)
      signal.addEventListener('abort', leave, { once: true })
    })

  const ask = async (question: ConsentRequest, signal: AbortSignal): Promise<boolean> => {
    const before = last
    const { promise, done } = turn()
    last = promise
    await before
    try {
      if (signal.aborted) return false
      output.write(textOf(question))
      return await answerOf(signal)
    } finally {
      done()
    }
  }

  return {
    ask: (question, signal) => {
      if (isAsking) return ask(question, signal)
      const { origin, agent, capability } = question
      output.write(
        `${sentenceOf(question)}: switchboard local allow ${origin} ${quoted(agent)} ${quoted(capability)}\n`,
      )
      return new Promise(() => {})
    },
    close: () => lines?.close(),
  }
}

/** The next question waits for this one. */
function turn(): { readonly promise: Promise<void>; readonly done: () => void } {
  let done = (): void => {}
  const promise = new Promise<void>((resolve) => {
    done = resolve
  })
  return { promise, done }
}

function sentenceOf({ origin, agent, capability }: ConsentRequest): string {
  const what = capability === '*' ? `everything that ${agent} can do` : `${capability} of ${agent}`
  return toDisplayText(`${origin} wants to call ${what}`)
}

const textOf = (question: ConsentRequest): string => {
  const about = toDisplayText(question.description)
  return `${sentenceOf(question)}${about === '' ? '' : ` (${about})`}\nAllow it, until you revoke it? [y/N] `
}

/** For a shell, whatever a program called itself. */
const quoted = (text: string): string => `'${toDisplayText(text).replaceAll("'", "'\\''")}'`
