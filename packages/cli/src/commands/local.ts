import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createLocalRuntime } from '@switchboard/local'
import { createConsentPrompt } from '../local/consent-prompt.js'
import { LOCAL_ACTIONS } from '../local/local-actions.js'
import { readNumber } from '../read-number.js'
import { readLocalSocket } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJsonLine, remark } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard local: run and manage agents on this computer

  switchboard local                              run the local runtime until Ctrl-C
  switchboard local list                         list the registered agents
  switchboard local add NAME URL|SOCKET          register an agent that listens on this computer
  switchboard local remove NAME                  remove an agent
  switchboard local consents                     list what web pages may do, and their open requests
  switchboard local allow ORIGIN AGENT [CAPABILITY]    let pages of an origin call an agent (default: all of it)
  switchboard local revoke ORIGIN [AGENT [CAPABILITY]] revoke that, or refuse an open request
  switchboard local log                          show calls, consents and refusals

Programs call the agents as agent+local://name. Web pages call them through the bridge, after you have allowed it in the
terminal of the runtime or with allow.

  --socket PATH      socket of the runtime ($XDG_RUNTIME_DIR/switchboard/local.sock, else
                     ~/.switchboard/local.sock)                SWITCHBOARD_LOCAL_SOCKET
  --state FOLDER     folder for consents and the log (~/.switchboard)
  --bridge-port N    loopback port of the bridge for web pages; 0 picks a free one (8041)
  --no-bridge        no access for web pages
  --descriptor FILE  the agent's descriptor, for add; default: the one that the agent publishes
  --json             print JSON, for programs

Examples:
  switchboard local
  switchboard local allow https://notes.example notes add
`

const FLAGS = {
  socket: { type: 'string' },
  state: { type: 'string' },
  'bridge-port': { type: 'string' },
  'no-bridge': { type: 'boolean' },
  descriptor: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

const readFlags = (args: string[]) => parseArgs({ args, allowPositionals: true, options: FLAGS })

const BRIDGE_PORT = 8041

export async function local(args: string[]): Promise<number> {
  const { values, positionals } = readFlags(args)
  if (values.help) {
    await print(HELP)
    return 0
  }
  const socket = resolve(await readLocalSocket(values.socket))
  const [action, ...rest] = positionals
  if (action === undefined) return run(socket, values)
  const act = LOCAL_ACTIONS.get(action)
  if (!act) throw new UsageError(`there is no switchboard local ${action}: try switchboard local --help`)
  await act({ socket, args: rest, asJson: values.json === true, descriptor: values.descriptor })
  return 0
}

async function run(socket: string, values: ReturnType<typeof readFlags>['values']): Promise<number> {
  const port = readNumber('--bridge-port', values['bridge-port'], { least: 0, most: 65_535 }) ?? BRIDGE_PORT
  const signal = untilInterrupted()
  const prompt = createConsentPrompt({
    input: process.stdin,
    output: process.stderr,
    isInteractive: process.stdin.isTTY,
  })
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
