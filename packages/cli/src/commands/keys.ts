import { parseArgs } from 'node:util'
import type { ApiKey } from '@switchboard/client'
import { openAdmin } from '../directory.js'
import { readNumber } from '../read-number.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { print, printJson, printJsonLine, printTable } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard keys: manage the API keys of a directory

  switchboard keys list                     list all keys, without their secrets
  switchboard keys create SUBJECT           create a key; its secret is shown only once
  switchboard keys revoke ID…               revoke keys, effective immediately
  switchboard keys reset-admin              create a new administrator's key

For list, create and revoke, with an administrator's key as --token:
  --scope SCOPE      publish, discover, invoke, ct or admin; repeatable (discover and invoke)
  --name PATTERN     agent names that the key may register, such as "acme-*"; repeatable (all)
  --expires-in N     seconds until the key expires (never)
${DIRECTORY_HELP}

For reset-admin, which needs write access to the data; the directory may be running, and the old key is revoked at once:
  --data FOLDER      folder of the embedded store (./switchboard-data)
  --database URL     a postgres:// URL instead
  --config FILE      config file of the directory

Examples:
  switchboard keys create acme --scope publish --name 'acme-*' --token $ADMIN_KEY
  switchboard keys reset-admin --data ./my-data
`

const FLAGS = {
  ...DIRECTORY_FLAGS,
  scope: { type: 'string', multiple: true },
  name: { type: 'string', multiple: true },
  'expires-in': { type: 'string' },
  data: { type: 'string' },
  database: { type: 'string' },
  config: { type: 'string' },
} as const

const readFlags = (args: string[]) => parseArgs({ args, allowPositionals: true, options: FLAGS })
type Flags = ReturnType<typeof readFlags>['values']

/** A hundred years, in seconds. */
const MAX_LIFETIME = 3_153_600_000

export async function keys(args: string[]): Promise<number> {
  const { values, positionals } = readFlags(args)
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [action, ...names] = positionals
  if (action === 'reset-admin' && names.length === 0) return resetAdmin(values)
  if (action === 'list' && names.length === 0) return list(values)
  if (action === 'create' && names.length === 1) return create(names[0] ?? '', values)
  if (action === 'revoke' && names.length > 0) return revoke(names, values)
  throw new UsageError(
    'use: switchboard keys list, switchboard keys create SUBJECT, switchboard keys revoke ID… or switchboard keys reset-admin',
  )
}

/** The key goes to stdout, so that scripts can use it. */
async function resetAdmin({ data, database, config }: Flags): Promise<number> {
  // Only this action needs the server package, which is slow to load.
  const { readConfig, resetAdministratorKey } = await import('@switchboard/server')
  const settings = readConfig({
    ...(data !== undefined && { data }),
    ...(database !== undefined && { database }),
    ...(config !== undefined && { config }),
  })
  await print(`${await resetAdministratorKey(settings)}\n`)
  return 0
}

async function list(values: Flags): Promise<number> {
  const all = await openAdmin(values).listKeys()
  if (values.json) await printJson(all.map(({ document }) => document))
  else await printTable(['ID', 'SUBJECT', 'SCOPES', 'NAMES', 'EXPIRES'], all.map(toRow), 'no keys')
  return 0
}

const toRow = ({ id, subject, scopes, names, expiresAt }: ApiKey): string[] => [
  id,
  subject,
  scopes.join(' '),
  names.join(' '),
  expiresAt ?? '',
]

async function create(subject: string, values: Flags): Promise<number> {
  const expiresIn = readNumber('--expires-in', values['expires-in'], { least: 1, most: MAX_LIFETIME })
  const { document, secret } = await openAdmin(values).createKey({
    subject,
    scopes: values.scope ?? ['discover', 'invoke'],
    ...(values.name && { names: values.name }),
    ...(expiresIn !== undefined && { expiresIn }),
  })
  if (values.json) await printJson({ ...document, key: secret })
  // The secret alone, so that scripts can use it.
  else await print(`${secret}\n`)
  return 0
}

async function revoke(ids: readonly string[], values: Flags): Promise<number> {
  const admin = openAdmin(values)
  for (const id of ids) {
    await admin.revokeKey(id)
    if (values.json) await printJsonLine({ id, revoked: true })
    else await print(`revoked ${id}\n`)
  }
  return 0
}
