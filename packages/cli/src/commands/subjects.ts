import type { SubjectCounts } from '@switchboard/client'
import { type CommandGroup, command, type Options, type Values } from '../command/command.js'
import { openAdmin } from '../directory.js'
import { ADMIN_OPTIONS } from '../settings.js'
import { print, printJson, printJsonLine } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const ERASE_OPTIONS = {
  yes: { type: 'boolean', text: 'really do it; without it, only shows what would be erased' },
  ...ADMIN_OPTIONS,
} as const satisfies Options

const RENAME_OPTIONS = {
  merge: { type: 'boolean', text: 'even if the other name has agents, keys, grants or tasks of its own' },
  ...ADMIN_OPTIONS,
} as const satisfies Options

type Flags = Values<typeof ADMIN_OPTIONS>

export const subjects: CommandGroup = {
  summary: 'export, erase or rename what is kept about a subject',
  about: `A subject is the name that keys, tokens or certificates stand for, such as a person's. All need an administrator's key.`,
  actions: {
    show: command({
      summary: 'how much is kept, by kind',
      usage: 'SUBJECT',
      options: ADMIN_OPTIONS,
      examples: ['switchboard subjects show anna'],
      run: (values, [subject = '']) => show(subject, values),
    }),
    export: command({
      summary: 'print everything that is kept, one JSON object per line, without secrets',
      usage: 'SUBJECT',
      options: ADMIN_OPTIONS,
      examples: ['switchboard subjects export anna > anna.ndjson'],
      run: (values, [subject = '']) => exportAll(subject, values),
    }),
    erase: command({
      summary: "erase it: agents, keys, grants, tasks …; the subject's calls end at once",
      usage: 'SUBJECT',
      options: ERASE_OPTIONS,
      examples: ['switchboard subjects erase anna --yes'],
      run: (values, [subject = '']) => (values.yes ? erase(subject, values) : preview(subject, values)),
    }),
    rename: command({
      summary: 'move everything to another name',
      usage: 'SUBJECT TO',
      options: RENAME_OPTIONS,
      examples: ["switchboard subjects rename anna 'https://login.example#anna'"],
      run: (values, [subject = '', to = '']) => rename(subject, to, values),
    }),
  },
}

async function show(subject: string, values: Flags): Promise<number> {
  const counts = await (await openAdmin(values)).countSubject(subject)
  if (values.json) await printJson({ subject, counts: { ...counts } })
  else await print(`${toLines(counts) || `nothing is kept about ${subject}, except maybe in the audit log\n`}`)
  return 0
}

async function exportAll(subject: string, values: Flags): Promise<number> {
  for await (const { kind, value } of (await openAdmin(values)).exportSubject(subject))
    await printJsonLine({ kind, value })
  return 0
}

async function preview(subject: string, values: Flags): Promise<number> {
  const counts = await (await openAdmin(values)).countSubject(subject)
  throw new UsageError(
    `this would erase ${toText(counts)} of ${subject}, which cannot be undone: repeat the command with --yes`,
  )
}

async function erase(subject: string, values: Flags): Promise<number> {
  const { erased, alias } = await (await openAdmin(values)).eraseSubject(subject)
  if (values.json) await printJson({ erased: { ...erased }, alias })
  else await print(`erased ${toText(erased)}; entries of the audit log now name ${alias}\n`)
  return 0
}

async function rename(subject: string, to: string, values: Values<typeof RENAME_OPTIONS>): Promise<number> {
  const moved = await (await openAdmin(values)).renameSubject(subject, to, { merge: values.merge === true })
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
