import { createInterface, type Interface } from 'node:readline'
import { toDisplayText } from '@switchboard/client/display-text'
import type { AskForConsent, ConsentRequest } from '@switchboard/local'

export interface PromptDeps {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  /** False without a terminal: then the prompt prints the command that allows the request, and reads no answer. */
  readonly isInteractive: boolean
}

/** Asks for consent in the terminal of the runtime, one request at a time. */
export interface ConsentPrompt {
  readonly ask: AskForConsent
  close(): void
}

export function createConsentPrompt({ input, output, isInteractive }: PromptDeps): ConsentPrompt {
  let lines: Interface | undefined
  let last: Promise<unknown> = Promise.resolve()

  const readAnswer = (signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      lines ??= createInterface({ input, terminal: false })
      const reading = lines
      const end = (isAllowed: boolean): void => {
        reading.off('line', onLine)
        signal.removeEventListener('abort', onAbort)
        resolve(isAllowed)
      }
      // Anything but a clear yes is a no; empty lines are ignored.
      const onLine = (line: string): void => {
        if (line.trim() !== '') end(/^y(es)?$/i.test(line.trim()))
      }
      const onAbort = (): void => {
        output.write('(answered elsewhere, or the page has left)\n')
        end(false)
      }
      reading.on('line', onLine)
      signal.addEventListener('abort', onAbort, { once: true })
    })

  /** Waits for the previous request, so that an answer belongs to the one on the screen. */
  const askInTurn = (request: ConsentRequest, signal: AbortSignal): Promise<boolean> => {
    const answer = last.then(() => {
      if (signal.aborted) return false
      output.write(questionFor(request))
      return readAnswer(signal)
    })
    last = answer.catch(() => {})
    return answer
  }

  return {
    ask: (request, signal) => {
      if (isInteractive) return askInTurn(request, signal)
      const { origin, agent, capability } = request
      const command = `switchboard local allow ${origin} ${quoted(agent)} ${quoted(capability)}`
      output.write(`${sentenceFor(request)}; to allow it: ${command}\n`)
      return new Promise(() => {})
    },
    close: () => lines?.close(),
  }
}

function sentenceFor({ origin, agent, capability }: ConsentRequest): string {
  const what = capability === '*' ? `all capabilities of ${agent}` : `${capability} of ${agent}`
  return toDisplayText(`${origin} wants to call ${what}`)
}

const questionFor = (request: ConsentRequest): string => {
  const about = toDisplayText(request.description)
  return `${sentenceFor(request)}${about === '' ? '' : ` (${about})`}\nAllow it until you revoke it? [y/N] `
}

/** Quotes untrusted text for a shell. */
const quoted = (text: string): string => `'${toDisplayText(text).replaceAll("'", "'\\''")}'`
