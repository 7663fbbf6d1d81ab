import type { Config } from '@switchboard/server'
import { type Command, command, type Options, type Values } from '../command/command.js'
import {
  checkCertificate,
  checkClock,
  checkFolder,
  checkNode,
  checkPort,
  findDirectory,
  type RunningDirectory,
} from '../doctor/checks.js'
import { type Finding, fail, messageOf, ok } from '../doctor/finding.js'
import { CONNECTION_OPTIONS, JSON_OPTION, namesUrl, readDirectorySettings } from '../settings.js'
import { padColumns } from '../terminal/columns.js'
import { print, printJson } from '../terminal/print.js'
import { printable } from '../terminal/printable.js'
import { type Style, styleFor } from '../terminal/style.js'
import { SERVE_OPTIONS } from './serve.js'

const OPTIONS = {
  ...SERVE_OPTIONS,
  url: { ...CONNECTION_OPTIONS.url, text: 'the directory to look for (the one that these settings would start)' },
  ca: CONNECTION_OPTIONS.ca,
  ...JSON_OPTION,
} as const satisfies Options

export const doctor: Command = command({
  summary: 'check what a directory needs: port, data, database, TLS, clock, model',
  about:
    'Takes the settings of switchboard serve, whether the directory is running or not, and changes nothing. Every problem comes with a remedy. The exit code is 1 if a check fails.',
  options: OPTIONS,
  examples: ['switchboard doctor', 'switchboard doctor --config switchboard.json --json'],
  async run(values) {
    const findings: Finding[] = []
    const style = styleFor(process.stdout)
    for await (const finding of diagnose(values)) {
      findings.push(finding)
      if (!values.json) await print(toLines(finding, style))
    }
    const failed = findings.filter(({ state }) => state === 'fail').length
    if (values.json) await printJson({ ok: failed === 0, checks: findings.map((finding) => ({ ...finding })) })
    return failed > 0 ? 1 : 0
  },
})

const STYLES = { ok: 'green', warn: 'yellow', fail: 'red' } as const

const toLines = ({ check, state, text, remedy }: Finding, style: Style): string =>
  `${style[STYLES[state]](padColumns(state, 4))}  ${padColumns(check, 9)}  ${printable(text)}\n${
    remedy === undefined ? '' : `${' '.repeat(17)}→ ${printable(remedy)}\n`
  }`

async function* diagnose(values: Values<typeof OPTIONS>): AsyncGenerator<Finding> {
  yield checkNode()
  const { inspectDatabase, inspectFolder, readConfig, tryModel } = await import('@switchboard/server')
  const { url, ca: _ca, json: _json, ...flags } = values
  let config: Config | undefined
  try {
    config = readConfig(flags)
    yield ok('settings', 'valid')
  } catch (error) {
    yield fail('settings', messageOf(error), 'correct this setting; switchboard serve --help lists the flags')
  }
  const { finding, running } = await findDirectory(readUrl(url, config))
  yield finding
  if (!config) return
  yield await checkPort(config, running !== undefined)
  let databaseNow: number | undefined
  if (config.database === undefined) yield* await checkFolder(config.data, inspectFolder, running !== undefined)
  else {
    const database = await checkDatabase(config.database, inspectDatabase)
    databaseNow = database.now
    yield database.finding
  }
  yield checkCertificate(config)
  yield clockOf(running, databaseNow)
  try {
    yield ok('model', await tryModel(config))
  } catch (error) {
    yield fail('model', messageOf(error), 'run npm install again, or correct search.embedder in the config file')
  }
}

/** The directory that was named, or the one that the settings would start. */
function readUrl(flag: string | undefined, config: Config | undefined): string {
  if (config === undefined || namesUrl({ url: flag })) return readDirectorySettings({ url: flag }).url
  const host = /^(0\.0\.0\.0|::)$/.test(config.host) ? 'localhost' : config.host
  return `${config.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${config.port}`
}

async function checkDatabase(
  url: string,
  inspect: typeof import('@switchboard/server').inspectDatabase,
): Promise<{ readonly finding: Finding; readonly now?: number }> {
  try {
    const { version, isWritable, hasPgvector, now } = await inspect(url)
    const text = `PostgreSQL ${version}${hasPgvector ? ', with pgvector' : ''}`
    if (isWritable) return { finding: ok('database', text), now }
    const remedy = 'use the primary server, and a user who may create tables in the schema'
    return { finding: fail('database', `${text}, but it cannot be written`, remedy), now }
  } catch (error) {
    const remedy = 'check that PostgreSQL is running, and host, port, user and password in --database'
    return { finding: fail('database', messageOf(error), remedy) }
  }
}

function clockOf(running: RunningDirectory | undefined, databaseNow: number | undefined): Finding {
  if (databaseNow !== undefined) return checkClock(databaseNow - Date.now(), 'the database')
  return checkClock(running?.clockAhead, 'the directory')
}
