import type { Grant } from '@switchboard/client'
import { type CommandGroup, command, type Options } from '../command/command.js'
import { openAdmin } from '../directory.js'
import { ADMIN_OPTIONS } from '../settings.js'
import { print, printJson, printJsonLine, printTable } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const ADD_OPTIONS = {
  agent: { type: 'string', value: 'ID', text: 'one agent' },
  tag: { type: 'string', value: 'TAG', text: 'all agents with this tag' },
  scopes: { type: 'string', value: 'SCOPES', text: 'discover, invoke or both (discover,invoke)' },
  ...ADMIN_OPTIONS,
} as const satisfies Options

export const grants: CommandGroup = {
  summary: 'let subjects find and call agents that are not public',
  about: "All need an administrator's key.",
  actions: {
    list: command({
      summary: 'list all grants',
      options: ADMIN_OPTIONS,
      examples: ['switchboard grants list'],
      async run(values) {
        const all = await (await openAdmin(values)).listGrants()
        if (values.json) await printJson(all.map(({ document }) => document))
        else await printTable(['ID', 'SUBJECT', 'SCOPES', 'AGENT OR TAG'], all.map(toRow), 'no grants')
        return 0
      },
    }),
    add: command({
      summary: 'let a subject find and call an agent, or all agents with a tag',
      usage: 'SUBJECT',
      options: ADD_OPTIONS,
      examples: [
        'switchboard grants add app-1 --agent payroll',
        'switchboard grants add hr-team --tag hr --scopes discover',
      ],
      async run(values, [subject = '']) {
        const { agent, tag, scopes = 'discover,invoke' } = values
        if ((agent === undefined) === (tag === undefined)) throw new UsageError('name either --agent ID or --tag TAG')
        const grant = await (await openAdmin(values)).createGrant({
          subject,
          scopes: scopes.split(',').map((scope) => scope.trim()),
          ...(agent !== undefined && { agent }),
          ...(tag !== undefined && { tag }),
        })
        if (values.json) await printJson(grant.document)
        else await print(`${grant.id}\n`)
        return 0
      },
    }),
    remove: command({
      summary: 'revoke grants, effective immediately',
      usage: 'ID…',
      options: ADMIN_OPTIONS,
      examples: ['switchboard grants remove 1f0c75eede5b25e1d4'],
      async run(values, ids) {
        const admin = await openAdmin(values)
        for (const id of ids) {
          await admin.revokeGrant(id)
          if (values.json) await printJsonLine({ id, removed: true })
          else await print(`removed ${id}\n`)
        }
        return 0
      },
    }),
  },
}

const toRow = ({ id, subject, scopes, agent, tag }: Grant): string[] => [
  id,
  subject,
  scopes.join(' '),
  agent ?? `tag ${tag}`,
]
