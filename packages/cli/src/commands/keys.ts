import type { ApiKey, ApiKeyRequest } from '@switchboard/client'
import type { JsonObject } from '@switchboard/protocol'
import { isClientError } from '../client-error.js'
import { type CommandGroup, command, type Options, type Values } from '../command/command.js'
import { DATA_OPTIONS, readDataConfig } from '../data/place.js'
import { openAdmin } from '../directory.js'
import { readNumber } from '../read-number.js'
import { ADMIN_OPTIONS, namesAdministrator } from '../settings.js'
import { print, printJson, printJsonLine, printTable, remark } from '../terminal/print.js'
import { CommandError, UsageError } from '../usage.js'

const CREATE_OPTIONS = {
  scopes: {
    type: 'string',
    multiple: true,
    value: 'SCOPES',
    text: 'publish, discover, invoke, ct or admin, separated by commas (discover,invoke)',
  },
  scope: { type: 'string', multiple: true, value: 'SCOPE', text: 'the older name of --scopes', isHidden: true },
  name: {
    type: 'string',
    multiple: true,
    value: 'PATTERN',
    text: 'agent names that the key may register, such as "acme-*" (all)',
  },
  'expires-in': { type: 'string', value: 'N', text: 'seconds until the key expires (never)' },
  quiet: { type: 'boolean', short: 'q', text: 'print nothing but the key' },
  ...ADMIN_OPTIONS,
  ...DATA_OPTIONS,
} as const satisfies Options

type Flags = Values<typeof ADMIN_OPTIONS>
type CreateFlags = Values<typeof CREATE_OPTIONS>

const DEFAULT_SCOPES = ['discover', 'invoke']

/** A created key, as the directory shows it, and its secret. */
interface NewKey {
  readonly document: JsonObject
  readonly secret: string
}

/** A hundred years, in seconds. */
const MAX_LIFETIME = 3_153_600_000

export const keys: CommandGroup = {
  summary: 'list, create and revoke API keys',
  about: `They need an administrator's key, as --token or SWITCHBOARD_ADMIN_KEY. On the computer of a directory, create and reset-admin can write to its data instead, while it runs or not.`,
  actions: {
    list: command({
      summary: 'list all keys, without their secrets',
      options: ADMIN_OPTIONS,
      examples: ['switchboard keys list'],
      run: list,
    }),
    create: command({
      summary: 'create a key; its secret is shown only once',
      usage: 'SUBJECT',
      about: `Needs an administrator's key, or write access to the data of a directory on this computer, which may be running. It writes to the data if you name them (--data, --database, --config), or neither a key nor a URL.`,
      options: CREATE_OPTIONS,
      examples: [
        "switchboard keys create acme --scopes publish --name 'acme-*'",
        'export SWITCHBOARD_TOKEN=$(switchboard keys create me --scopes publish,discover,invoke --quiet)',
      ],
      run: (values, [subject = '']) => create(subject, values),
    }),
    revoke: command({
      summary: 'revoke keys, effective immediately',
      usage: 'ID…',
      options: ADMIN_OPTIONS,
      examples: ['switchboard keys revoke 4f1bc75eede5b25e1d'],
      run: (values, ids) => revoke(ids, values),
    }),
    'reset-admin': command({
      summary: "create a new administrator's key",
      about: 'Needs write access to the data. The directory may be running; the old key is revoked at once.',
      options: DATA_OPTIONS,
      examples: ['switchboard keys reset-admin --data ./my-data'],
      async run(values) {
        // Only what works on the data needs the server package, which is slow to load.
        const { resetAdministratorKey } = await import('@switchboard/server')
        // The key goes to stdout, so that scripts can use it.
        await print(`${await resetAdministratorKey(await readDataConfig(values))}\n`)
        return 0
      },
    }),
  },
}

async function list(values: Flags): Promise<number> {
  const all = await (await openAdmin(values)).listKeys()
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

async function create(subject: string, values: CreateFlags): Promise<number> {
  const scopes = [...(values.scopes ?? []), ...(values.scope ?? [])].flatMap((list) => list.split(','))
  const expiresIn = readNumber('--expires-in', values['expires-in'], { least: 1, most: MAX_LIFETIME })
  const key: ApiKeyRequest = {
    subject,
    scopes: scopes.length > 0 ? scopes.map((scope) => scope.trim()) : DEFAULT_SCOPES,
    ...(values.name && { names: values.name }),
    ...(expiresIn !== undefined && { expiresIn }),
  }
  const { document, secret } = isLocal(values) ? await createInData(key, values) : await createOverHttp(key, values)
  if (values.json) await printJson({ ...document, key: secret })
  else {
    // The secret alone, so that scripts can use it.
    await print(`${secret}\n`)
    if (!values.quiet) remark(`${subject} may ${key.scopes.join(', ')}; the key is shown only once: store it safely`)
  }
  return 0
}

/** Whether to write to the data of a directory, instead of sending a request to it. */
const isLocal = (values: CreateFlags): boolean =>
  values.data !== undefined ||
  values.database !== undefined ||
  values.config !== undefined ||
  !namesAdministrator(values)

async function createInData(key: ApiKeyRequest, values: CreateFlags): Promise<NewKey> {
  const { createLocalKey, StoreError } = await import('@switchboard/server')
  const config = await readDataConfig(values)
  try {
    const { id, secret } = await createLocalKey(config, key)
    return { document: { id, subject: key.subject, scopes: [...key.scopes] }, secret }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new UsageError(
      `${error.message}: name the directory's data with --data, or pass its administrator's key with --token`,
    )
  }
}

async function createOverHttp(key: ApiKeyRequest, values: Flags): Promise<NewKey> {
  try {
    return await (await openAdmin(values)).createKey(key)
  } catch (error) {
    if (!(isClientError(error) && ['unauthorized', 'permission_denied'].includes(error.code))) throw error
    throw new CommandError(
      `${error.message}: pass the administrator's key with --token or SWITCHBOARD_ADMIN_KEY, or the directory's data with --data`,
    )
  }
}

async function revoke(ids: readonly string[], values: Flags): Promise<number> {
  const admin = await openAdmin(values)
  for (const id of ids) {
    await admin.revokeKey(id)
    if (values.json) await printJsonLine({ id, revoked: true })
    else await print(`revoked ${id}\n`)
  }
  return 0
}
