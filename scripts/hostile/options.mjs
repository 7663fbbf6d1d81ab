import { parseArgs } from 'node:util'

export const HELP = `npm run test:hostile [-- OPTIONS]: attacks a directory with generated requests

  --requests N   requests to send (50000)
  --agents N     agents that the directory holds (20000)
  --seed N       the same seed generates the same requests (1)
  --only TEXT    only requests whose kind contains the text
  --seconds N    limit for sending (900)
  --blocked N    milliseconds for which the event loop may be blocked (200)
  --help

It fails if a response has status 500, a request gets no byte for 2 s, the event loop of the directory is blocked for too
long, its memory does not return to its baseline, or its process ends.`

/** @returns {{ requests: number, agents: number, seed: number, only: string, seconds: number, blocked: number } | undefined} */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      requests: { type: 'string', default: '50000' },
      agents: { type: 'string', default: '20000' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      seconds: { type: 'string', default: '900' },
      blocked: { type: 'string', default: '200' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) return undefined
  const { only, help: _, ...numbers } = values
  const options = Object.fromEntries(Object.entries(numbers).map(([name, text]) => [name, Number(text)]))
  for (const [name, value] of Object.entries(options)) {
    if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number above 0`)
  }
  return { ...options, only }
}
