import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ConfigError, type TlsConfig } from './settings.js'

/** Reads a text file that a flag or setting names. */
export function readText(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`${flag} ${path} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
}

/** Variables that may name a file instead, as orchestrators mount secrets: `SWITCHBOARD_SECRET_FILE`, and so on. */
const SECRETS = [
  'SWITCHBOARD_ADMIN_KEY',
  'SWITCHBOARD_SECRET',
  'SWITCHBOARD_DATABASE_URL',
  'SWITCHBOARD_EMBEDDER_KEY',
  'SWITCHBOARD_METRICS_TOKEN',
]

/** The environment, with the secrets that are in files. */
export function withSecretFiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const read = SECRETS.flatMap((name) => {
    const variable = `${name}_FILE`
    const path = env[variable]
    if (!path) return []
    if (env[name]) throw new ConfigError(`${name} and ${variable} are both set: remove one of them`)
    const secret = readText(path, variable).trim()
    if (secret === '') throw new ConfigError(`${variable} ${path} is empty`)
    return [[name, secret]]
  })
  return { ...env, ...Object.fromEntries(read) }
}

/** Rejects incomplete TLS settings, which would leave the server less secure than intended, and invalid files. */
export function readTls(
  certificate: string | undefined,
  key: string | undefined,
  clientCa: string | undefined,
  clientCrl: string | undefined,
  clientRequired: boolean,
): TlsConfig | undefined {
  if (clientCrl !== undefined && clientCa === undefined) throw new ConfigError('--tls-client-crl needs --tls-client-ca')
  if (clientRequired && clientCa === undefined) throw new ConfigError('--tls-client-required needs --tls-client-ca')
  if (certificate === undefined || key === undefined) {
    if (certificate !== key) throw new ConfigError('--tls-cert and --tls-key must be set together')
    if (clientCa !== undefined) throw new ConfigError('--tls-client-ca needs --tls-cert and --tls-key')
    return undefined
  }
  const tls: TlsConfig = {
    cert: readText(certificate, '--tls-cert'),
    key: readText(key, '--tls-key'),
    clientRequired,
    ...(clientCa !== undefined && { clientCa: readText(clientCa, '--tls-client-ca') }),
    ...(clientCrl !== undefined && { clientCrl }),
  }
  if (clientCrl !== undefined) assertCrl(clientCrl)
  try {
    createSecureContext({ cert: tls.cert, key: tls.key, ca: tls.clientCa })
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    throw new ConfigError(
      `--tls-cert ${certificate} and --tls-key ${key} are not a valid certificate and key: ${reason}`,
    )
  }
  return tls
}

function assertCrl(path: string): void {
  try {
    createSecureContext({ crl: readText(path, '--tls-client-crl') })
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const reason = error instanceof Error ? error.message : error
    throw new ConfigError(`--tls-client-crl ${path} is not a list of revoked certificates (PEM): ${reason}`)
  }
}
