import { parseArgs } from 'node:util'
import type { SubjectCounts } from '@switchboard/client'
import { openAdmin } from '../directory.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { print, printJson, printJsonLine } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard subjects: what a directory keeps about one subject, such as a person

  switchboard subjects show SUBJECT          how much is kept, by kind
  switchboard subjects export SUBJECT        print everything that is kept, one JSON object per line, without secrets
  switchboard subjects erase SUBJECT --yes   erase it: agents, keys, grants, tasks …; the subject's calls end at once
  switchboard subjects rename SUBJECT TO     move everything to another name

A subject is the name that keys, tokens or certificates stand for. All need an administrator's key as --token.
  --yes              for erase: really do it; without it, only shows what would be erased
  --merge            for rename: even if the other name has agents, keys, grants or tasks of its own
${DIRECTORY_HELP}

Examples:
  switchboard subjects export anna > anna.ndjson
  switchboard subjects erase anna --yes
  switchboard subjects rename anna 'https://login.example#anna'
`

const FLAGS = {
  ...DIRECTORY_FLAGS,
  yes: { type: 'boolean' },
  merge: { type: 'boolean' },
} as const

const readFlags = (args: string[]) => parseArgs({ args, allowPositionals: true, options: FLAGS })
type Flags = ReturnType<typeof readFlags>['values']

export async function subjects(args: string[]): Promise<number> {
  const { values, positionals } = readFlags(args)
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [action, subject, to, ...rest] = positionals
  if (subject !== undefined && rest.length === 0) {
    if (action === 'rename' && to !== undefined) return rename(subject, to, values)
    if (action === 'show' && to === undefined) return show(subject, values)
    if (action === 'export' && to === undefined) return exportAll(subject, values)
    if (action === 'erase' && to === undefined) return values.yes ? erase(subject, values) : preview(subject, values)
  }
  throw new UsageError(
    'use: switchboard subjects show SUBJECT, switchboard subjects export SUBJECT, switchboard subjects erase SUBJECT or switchboard subjects rename SUBJECT TO',
  )
}

async function show(subject: string, values: Flags): Promise<number> {
  const counts = await openAdmin(values).countSubject(subject)
  if (values.json) await printJson({ subject, counts: { ...counts } })
  else await print(`${toLines(counts) || `nothing is kept about ${subject}, except maybe in the audit log\n`}`)
  return 0
}

async function exportAll(subject: string, values: Flags): Promise<number> {
  for await (const { kind, value } of openAdmin(values).exportSubject(subject)) await printJsonLine({ kind, value })
  return 0
}

async function preview(subject: string, values: Flags): Promise<number> {
  const counts = await openAdmin(values).countSubject(subject)
  throw new UsageError(
    `this would erase ${toText(counts)} of ${subject}, which cannot be undone: repeat the command with --yes`,
  )
}

async function erase(subject: string, values: Flags): Promise<number> {
  const { erased, alias } = await openAdmin(values).eraseSubject(subject)
  if (values.json) await printJson({ erased: { ...erased }, alias })
  else await print(`erased ${toText(erased)}; entries of the audit log now name ${alias}\n`)
  return 0
}

async function rename(subject: string, to: string, values: Flags): Promise<number> {
  const moved = await openAdmin(values).renameSubject(subject, to, { merge: values.merge === true })
  if (values.json) await printJson({ moved: { ...moved } })
  else await print(`moved ${toText(moved)} to ${to}\n`)
  return 0
}

const toLines = (counts: SubjectCounts): string =>
  Object.entries(counts)
    .map(([kind, rows]) => `${String(rows).padStart(8)}  ${kind}\n`)
    .join('')

const toText = (counts: SubjectCounts): string =>
  Object.entries(counts)
    .map(([kind, rows]) => `${rows} × ${kind}`)
    .join(', ') || 'nothing but names in the audit log'
