import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { type CommandGroup, command, type Options, type Values } from '../command/command.js'
import { createConsentPrompt } from '../local/consent-prompt.js'
import { LOCAL_ACTIONS, SOCKET_OPTIONS } from '../local/local-actions.js'
import { readNumber } from '../read-number.js'
import { readLocalSocket } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJsonLine, remark } from '../terminal/print.js'

const BRIDGE_PORT = 8041

const RUN_OPTIONS = {
  state: { type: 'string', value: 'FOLDER', text: 'folder for consents and the log (~/.switchboard)' },
  'bridge-port': {
    type: 'string',
    value: 'N',
    text: `loopback port of the bridge for web pages; 0 picks a free one (${BRIDGE_PORT})`,
  },
  'no-bridge': { type: 'boolean', text: 'no access for web pages' },
  ...SOCKET_OPTIONS,
} as const satisfies Options

export const local: CommandGroup = {
  summary: 'run and manage agents on this computer',
  about: `Programs call the agents as agent+local://name. Web pages call them through the bridge, after you have allowed it in the terminal of the runtime or with allow.`,
  main: command({
    summary: 'run the local runtime until Ctrl-C',
    options: RUN_OPTIONS,
    examples: ['switchboard local'],
    run: async (values) => run(resolve(await readLocalSocket(values.socket)), values),
  }),
  actions: LOCAL_ACTIONS,
}

async function run(socket: string, values: Values<typeof RUN_OPTIONS>): Promise<number> {
  const port = readNumber('--bridge-port', values['bridge-port'], { least: 0, most: 65_535 }) ?? BRIDGE_PORT
  const signal = untilInterrupted()
  const prompt = createConsentPrompt({
    input: process.stdin,
    output: process.stderr,
    isInteractive: process.stdin.isTTY,
  })
  const { createLocalRuntime } = await import('@switchboard/local')
  const runtime = await createLocalRuntime({
    socket,
    state: resolve(values.state ?? join(homedir(), '.switchboard')),
    ...(!values['no-bridge'] && { bridgePort: port }),
    ask: prompt.ask,
    onError: (error) => remark(`error: ${String(error)}`),
  })
  try {
    const { bridgeUrl } = runtime
    if (values.json) await printJsonLine({ socket, ...(bridgeUrl !== undefined && { bridge: bridgeUrl }) })
    else await print(`switchboard local ready on ${socket}${bridgeUrl === undefined ? '' : `, bridge ${bridgeUrl}`}\n`)
    if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done, { once: true }))
  } finally {
    prompt.close()
    await runtime.close()
  }
  return 0
}
