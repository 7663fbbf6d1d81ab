import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditQuery, AuditRecord } from '@switchboard/client'
import { command, type Options, type Values } from '../command/command.js'
import { openAdmin } from '../directory.js'
import { readNumber } from '../read-number.js'
import { ADMIN_OPTIONS } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJsonLine } from '../terminal/print.js'
import { printable } from '../terminal/printable.js'
import { UsageError } from '../usage.js'

const OPTIONS = {
  since: { type: 'string', value: 'TIME', text: 'only entries since this RFC 3339 time' },
  subject: { type: 'string', value: 'SUBJECT', text: 'only what this subject did' },
  agent: { type: 'string', value: 'ID', text: 'only entries about this agent' },
  action: { type: 'string', value: 'ACTION', text: 'register, update, remove, mark, key.create, sign-in, request …' },
  outcome: { type: 'string', value: 'OUTCOME', text: 'ok or refused', choices: ['ok', 'refused'] },
  after: { type: 'string', value: 'CURSOR', text: 'only entries after this one; --json shows the cursor of each' },
  limit: { type: 'string', value: 'N', text: 'at most N entries (all)' },
  follow: { type: 'boolean', short: 'f', text: 'wait for further entries, until Ctrl-C' },
  ...ADMIN_OPTIONS,
  json: { type: 'boolean', text: 'print one JSON object per entry, with the states before and after' },
} as const satisfies Options

/** Milliseconds between requests for new entries. */
const FOLLOW_MS = 1000

/** Prints entries as they arrive. */
export const audit = command({
  summary: 'print the audit log, oldest entry first',
  about: "Needs an administrator's key.",
  options: OPTIONS,
  examples: [
    'switchboard audit --since 2026-01-01T00:00:00Z --outcome refused',
    'switchboard audit --json > audit.ndjson',
    'switchboard audit --json --after "$(tail -n 1 audit.ndjson | jq -r .cursor)" >> audit.ndjson',
  ],
  async run(values) {
    const admin = await openAdmin(values)
    const signal = values.follow ? untilInterrupted() : undefined
    const query = readQuery(values)
    let { after, limit = Number.POSITIVE_INFINITY } = query
    const printNew = async (): Promise<void> => {
      const wanted = { ...query, ...(after !== undefined && { after }), ...(Number.isFinite(limit) && { limit }) }
      for await (const entry of admin.auditLog(wanted, signal && { signal })) {
        if (values.json) await printJsonLine(entry.document)
        else await print(`${toLine(entry)}\n`)
        after = entry.cursor
        limit--
      }
    }
    await printNew()
    while (signal && !signal.aborted && limit > 0) {
      await sleep(FOLLOW_MS, undefined, { signal }).catch(() => {})
      if (!signal.aborted) await printNew()
    }
    return 0
  },
})

function readQuery(values: Values<typeof OPTIONS>): AuditQuery {
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
