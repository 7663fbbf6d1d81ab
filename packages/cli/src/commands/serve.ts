import { parseArgs } from 'node:util'
import { createServer, readConfig } from '@switchboard/server'

const HELP = `switchboard serve: run a directory

  --host ADDRESS         address to bind (127.0.0.1)                      SWITCHBOARD_HOST
  --port N               port; 0 picks a free one (8040)                  SWITCHBOARD_PORT
  --data FOLDER          folder of the embedded store (./switchboard-data)  SWITCHBOARD_DATA
  --database URL         a postgres:// URL instead of --data              SWITCHBOARD_DATABASE_URL
  --public-url URL       base of absolute URLs in responses               SWITCHBOARD_PUBLIC_URL
  --tls-cert FILE        certificate, to serve HTTPS                      SWITCHBOARD_TLS_CERT
  --tls-key FILE         private key of the certificate                   SWITCHBOARD_TLS_KEY
  --tls-client-ca FILE   CA of client certificates, for mutual TLS        SWITCHBOARD_TLS_CLIENT_CA
  --tls-client-crl FILE  revoked client certificates, read when changed   SWITCHBOARD_TLS_CLIENT_CRL
  --tls-client-required  reject clients without a certificate             SWITCHBOARD_TLS_CLIENT_REQUIRED
  --behind-proxy         a reverse proxy terminates TLS (production mode) SWITCHBOARD_BEHIND_PROXY
  --mdns                 advertise on the local network by multicast DNS  SWITCHBOARD_MDNS
  --config FILE          JSON file with these and further settings        SWITCHBOARD_CONFIG
  --log-level LEVEL      fatal, error, warn, info, debug, trace, silent   SWITCHBOARD_LOG_LEVEL
  --access-log           log one line for each request                    SWITCHBOARD_ACCESS_LOG

SWITCHBOARD_ADMIN_KEY sets the administrator's key. Without it, the first start generates one and prints it once.
Secrets can be in files: SWITCHBOARD_ADMIN_KEY_FILE, SWITCHBOARD_SECRET_FILE, SWITCHBOARD_DATABASE_URL_FILE …

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
  'tls-client-crl': { type: 'string' },
  'tls-client-required': { type: 'boolean' },
  'behind-proxy': { type: 'boolean' },
  mdns: { type: 'boolean' },
  config: { type: 'string' },
  'log-level': { type: 'string' },
  'access-log': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Milliseconds after the directory has stopped in which the process ends. */
const EXIT_MS = 300

/** Runs the directory until SIGTERM or SIGINT. Only the ready line goes to stdout. */
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
    process.stderr.write(`administrator's key, shown only once: ${server.generatedAdminKey}\n`)
  }
  try {
    process.stdout.write(`switchboard ready on ${await server.listen()}\n`)
    await stopped
  } finally {
    await server.close()
    // Something may still keep the process alive, such as a connection attempt to an agent.
    setTimeout(() => process.exit(), EXIT_MS).unref()
  }
  return 0
}
