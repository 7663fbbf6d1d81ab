import { parseArgs } from 'node:util'
import type { AuditQuery, AuditRecord } from '@switchboard/client'
import { openAdmin } from '../directory.js'
import { readNumber } from '../read-number.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { print, printJsonLine } from '../terminal/print.js'
import { printable } from '../terminal/printable.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard audit: print the audit log of a directory, oldest entry first

  switchboard audit                         needs an administrator's key as --token

  --since TIME       only entries since this RFC 3339 time
  --subject SUBJECT  only what this subject did
  --agent ID         only entries about this agent
  --action ACTION    register, update, remove, mark, key.create, sign-in, request …
  --outcome OUTCOME  ok or refused
  --after CURSOR     only entries after this one; --json shows the cursor of each
  --limit N          at most N entries (all)
${DIRECTORY_HELP}, one entry per line, with the states before and after

Examples:
  switchboard audit --since 2026-01-01T00:00:00Z --outcome refused
  switchboard audit --json > audit.ndjson
  switchboard audit --json --after "$(tail -n 1 audit.ndjson | jq -r .cursor)" >> audit.ndjson
`

const FLAGS = {
  ...DIRECTORY_FLAGS,
  since: { type: 'string' },
  subject: { type: 'string' },
  agent: { type: 'string' },
  action: { type: 'string' },
  outcome: { type: 'string' },
  after: { type: 'string' },
  limit: { type: 'string' },
} as const

const readFlags = (args: string[]) => parseArgs({ args, options: FLAGS })

/** Prints entries as they arrive. */
export async function audit(args: string[]): Promise<number> {
  const { values } = readFlags(args)
  if (values.help) {
    await print(HELP)
    return 0
  }
  for await (const entry of openAdmin(values).auditLog(readQuery(values))) {
    if (values.json) await printJsonLine(entry.document)
    else await print(`${toLine(entry)}\n`)
  }
  return 0
}

function readQuery(values: ReturnType<typeof readFlags>['values']): AuditQuery {
  const { since, subject, agent, action, outcome, after } = values
  const limit = readNumber('--limit', values.limit, { least: 1, most: Number.MAX_SAFE_INTEGER })
  if (since !== undefined && Number.isNaN(Date.parse(since)))
    throw new UsageError(`--since must be an RFC 3339 time such as 2026-01-01T00:00:00Z, not "${since}"`)
  if (outcome !== undefined && outcome !== 'ok' && outcome !== 'refused')
    throw new UsageError(`--outcome must be ok or refused, not "${outcome}"`)
  return {
    ...(since !== undefined && { since }),
    ...(subject !== undefined && { subject }),
    ...(agent !== undefined && { agent }),
    ...(action !== undefined && { action }),
    ...(outcome !== undefined && { outcome }),
    ...(after !== undefined && { after }),
    ...(limit !== undefined && { limit }),
  }
}

function toLine({ at, actor, action, outcome, agent, detail, count }: AuditRecord): string {
  const parts = [at, outcome, actor, action, agent, detail, count === undefined ? undefined : `(${count} more)`]
  return parts.flatMap((part) => (part === undefined ? [] : [printable(part).replaceAll(/\s+/g, ' ')])).join('  ')
}
