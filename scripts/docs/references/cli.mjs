// docs/reference/cli.md, from the declarations that --help and completion are made from.
import { loadCommands } from '../../../packages/cli/dist/catalog.js'
import { isGroup } from '../../../packages/cli/dist/command/command.js'
import { optionTerm } from '../../../packages/cli/dist/command/help.js'

const INTRODUCTION = `# Commands

Every command, as its \`--help\` explains it. [The command line](../cli.md) has guides by task, the settings that all commands share
and the exit codes.
`

const commands = await loadCommands()

/** The whole page. */
export const toCliReference = () =>
  [INTRODUCTION, summaryTable(), ...[...commands].flatMap(([name, entry]) => sectionsOf(name, entry))].join('\n')

const summaryTable = () =>
  `| command | what it does |
|---|---|
${[...commands].map(([name, { summary }]) => `| [\`${name}\`](#switchboard-${name}) | ${cell(summary)} |`).join('\n')}
`

function sectionsOf(name, entry) {
  if (!isGroup(entry)) return [section(`switchboard ${name}`, '##', entry)]
  const { summary, about, actions, main } = entry
  return [
    [`## switchboard ${name}`, sentence(summary), about].filter(Boolean).join('\n\n').concat('\n'),
    ...(main ? [body(`switchboard ${name}`, main)] : []),
    ...Object.entries(actions).map(([action, each]) => section(`switchboard ${name} ${action}`, '###', each)),
  ]
}

const section = (path, level, command) => `${level} ${path}
${sentence(command.summary)}

${body(path, command)}`

function body(path, { usage, about, options, examples }) {
  const shown = Object.entries(options).filter(([, { isHidden }]) => !isHidden)
  return [
    fenced(usage.map((line) => `${path} ${line}`.trimEnd())),
    ...(about === undefined ? [] : [`${about}\n`]),
    ...(shown.length === 0 ? [] : [optionTable(shown)]),
    `${examples.length === 1 ? 'Example' : 'Examples'}:`,
    fenced(examples),
  ].join('\n')
}

const optionTable = (options) =>
  `| option | meaning | environment |
|---|---|---|
${options.map(([name, option]) => `| \`${optionTerm(name, option).replaceAll('|', '\\|')}\` | ${cell(option.text)}${option.multiple ? '; repeatable' : ''} | ${option.variable === undefined ? '' : `\`${option.variable}\``} |`).join('\n')}
`

const fenced = (lines) => `\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`
/** Bars and asterisks have a meaning in tables and text. */
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('*', '\\*')
