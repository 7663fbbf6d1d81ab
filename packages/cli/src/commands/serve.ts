import { resolve } from 'node:path'
import { command, type Options } from '../command/command.js'
import { quoteWord } from '../completion/nodes.js'
import { isPortFree } from '../port.js'
import { commandName, DEFAULT_DATA, DEFAULT_URL } from '../settings.js'
import { UsageError } from '../usage.js'

/** The settings that flags can set; the config file has more. */
export const SERVE_OPTIONS = {
  host: { type: 'string', value: 'ADDRESS', text: 'address to bind (127.0.0.1)', variable: 'SWITCHBOARD_HOST' },
  port: { type: 'string', value: 'N', text: 'port; 0 picks a free one (8040)', variable: 'SWITCHBOARD_PORT' },
  data: {
    type: 'string',
    value: 'FOLDER',
    text: `folder of the embedded store (${DEFAULT_DATA})`,
    variable: 'SWITCHBOARD_DATA',
  },
  database: {
    type: 'string',
    value: 'URL',
    text: 'a postgres:// URL instead of --data',
    variable: 'SWITCHBOARD_DATABASE_URL',
  },
  'public-url': {
    type: 'string',
    value: 'URL',
    text: 'base of absolute URLs in responses',
    variable: 'SWITCHBOARD_PUBLIC_URL',
  },
  'tls-cert': {
    type: 'string',
    value: 'FILE',
    text: 'certificate, to serve HTTPS',
    variable: 'SWITCHBOARD_TLS_CERT',
  },
  'tls-key': {
    type: 'string',
    value: 'FILE',
    text: 'private key of the certificate',
    variable: 'SWITCHBOARD_TLS_KEY',
  },
  'tls-client-ca': {
    type: 'string',
    value: 'FILE',
    text: 'CA of client certificates, for mutual TLS',
    variable: 'SWITCHBOARD_TLS_CLIENT_CA',
  },
  'tls-client-crl': {
    type: 'string',
    value: 'FILE',
    text: 'revoked client certificates, read when changed',
    variable: 'SWITCHBOARD_TLS_CLIENT_CRL',
  },
  'tls-client-required': {
    type: 'boolean',
    text: 'reject clients without a certificate',
    variable: 'SWITCHBOARD_TLS_CLIENT_REQUIRED',
  },
  'behind-proxy': {
    type: 'boolean',
    text: 'a reverse proxy terminates TLS (production mode)',
    variable: 'SWITCHBOARD_BEHIND_PROXY',
  },
  mdns: {
    type: 'boolean',
    text: 'advertise on the local network by multicast DNS',
    variable: 'SWITCHBOARD_MDNS',
  },
  config: {
    type: 'string',
    value: 'FILE',
    text: 'JSON file with these and further settings',
    variable: 'SWITCHBOARD_CONFIG',
  },
  'log-level': {
    type: 'string',
    value: 'LEVEL',
    text: 'fatal, error, warn, info, debug, trace or silent',
    variable: 'SWITCHBOARD_LOG_LEVEL',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
  },
  'access-log': {
    type: 'boolean',
    text: 'log one line for each request',
    variable: 'SWITCHBOARD_ACCESS_LOG',
  },
} as const satisfies Options

/** Milliseconds after the directory has stopped in which the process ends. */
const EXIT_MS = 300

/** Runs the directory until SIGTERM or SIGINT. Only the ready line goes to stdout. */
export const serve = command({
  summary: 'run a directory',
  about: `SWITCHBOARD_ADMIN_KEY sets the administrator's key. Without it, the first start generates one and prints it once.
Secrets can be in files: SWITCHBOARD_ADMIN_KEY_FILE, SWITCHBOARD_SECRET_FILE, SWITCHBOARD_DATABASE_URL_FILE …`,
  options: SERVE_OPTIONS,
  examples: [
    'switchboard serve --port 9000 --data ./my-data',
    'switchboard serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --database postgres://db/switchboard',
  ],
  async run(values) {
    // Loaded here: help and completion do not need the server.
    const { createServer, isProduction, readConfig } = await import('@switchboard/server')
    const config = readConfig(values)
    const stopped = new Promise<void>((resolve) => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
    })
    // Before the store is opened: an administrator's key would be generated for a server that cannot start.
    if (config.port !== 0 && !(await isPortFree(config)))
      throw new UsageError(
        `port ${config.port} of ${config.host} is in use (EADDRINUSE): stop the other program, or choose another port with --port (0 picks a free one)`,
      )
    const server = await createServer(config, {
      // Loaded on request: a directory in production never runs it.
      startDemo: async (access) => (await import('@switchboard/demo')).startDemo(access),
    })
    if (server.generatedAdminKey !== undefined) {
      process.stderr.write(`administrator's key, shown only once: ${server.generatedAdminKey}\n`)
    }
    try {
      const url = await server.listen()
      process.stdout.write(`switchboard ready on ${url}\n`)
      if (!isProduction(config)) process.stderr.write(nextSteps(url, config))
      await stopped
    } finally {
      await server.close()
      // Something may still keep the process alive, such as a connection attempt to an agent.
      setTimeout(() => process.exit(), EXIT_MS).unref()
    }
    return 0
  },
})

/** Where to go from here, for people at a terminal. */
const nextSteps = (url: string, config: StorePlace): string => `
  console         ${url}/
  documentation   ${url}/docs
  agents to try   ${demoCommand(url, config)}
  stop            Ctrl-C

`

interface StorePlace {
  readonly data: string
  readonly database: string | undefined
}

/** The command that fills this directory, with what it cannot know if the directory is not in the usual place. */
function demoCommand(url: string, { data, database }: StorePlace): string {
  const isUsual = url === DEFAULT_URL && database === undefined && resolve(data) === resolve(DEFAULT_DATA)
  const flags = isUsual ? [] : ['--url', url, ...(database === undefined ? ['--data', quoteWord(data)] : [])]
  return [commandName(), 'demo', ...flags].join(' ')
}
