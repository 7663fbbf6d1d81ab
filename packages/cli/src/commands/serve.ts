import { parseArgs } from 'node:util'
import { createServer, readConfig } from '@switchboard/server'

const HELP = `switchboard serve: start the directory

  --host ADDRESS         address to bind (127.0.0.1)                      SWITCHBOARD_HOST
  --port N               port; 0 picks a free one (8040)                  SWITCHBOARD_PORT
  --data FOLDER          folder of the embedded store (./switchboard-data)  SWITCHBOARD_DATA
  --database URL         a postgres:// URL instead of --data              SWITCHBOARD_DATABASE_URL
  --public-url URL       base of absolute URLs handed out                 SWITCHBOARD_PUBLIC_URL
  --tls-cert FILE        certificate: serve HTTPS                         SWITCHBOARD_TLS_CERT
  --tls-key FILE         its key                                          SWITCHBOARD_TLS_KEY
  --tls-client-ca FILE   CA of client certificates: mutual TLS            SWITCHBOARD_TLS_CLIENT_CA
  --tls-client-required  refuse clients without a certificate             SWITCHBOARD_TLS_CLIENT_REQUIRED
  --behind-proxy         a proxy in front speaks TLS (production mode)    SWITCHBOARD_BEHIND_PROXY
  --config FILE          the same settings and the larger ones, as JSON   SWITCHBOARD_CONFIG
  --log-level LEVEL      fatal, error, warn, info, debug, trace, silent   SWITCHBOARD_LOG_LEVEL

SWITCHBOARD_ADMIN_KEY sets the administrator's key; without it one is made at the first start and shown once.

Examples:
  switchboard serve --port 9000 --data ./my-data
  switchboard serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --database postgres://db/switchboard
`

const OPTIONS = {
  host: { type: 'string' },
  port: { type: 'string' },
  data: { type: 'string' },
  database: { type: 'string' },
  'public-url': { type: 'string' },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'tls-client-ca': { type: 'string' },
  'tls-client-required': { type: 'boolean' },
  'behind-proxy': { type: 'boolean' },
  config: { type: 'string' },
  'log-level': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Starts the directory and stays until SIGTERM or SIGINT; stdout carries the ready line and nothing else. */
export async function serve(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  const config = readConfig(values)
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  const server = await createServer(config)
  if (server.generatedAdminKey !== undefined) {
    process.stderr.write(`administrator's key, shown only now: ${server.generatedAdminKey}\n`)
  }
  try {
    process.stdout.write(`switchboard ready on ${await server.listen()}\n`)
    await stopped
  } finally {
    await server.close()
  }
  return 0
}
