// docs/reference/config.md, from the schema that the config file is checked with.
import { toEditorSchema } from '../../../packages/server/dist/config/editor-schema.js'

/** Where the guides say more about a group of settings. */
const MORE = {
  telemetry: ['Traces', '../running.md#traces'],
  shutdown: ['Restarting replicas', '../running.md#restarting-replicas'],
  rateLimits: ['What counts as what', '../running.md#rate-limits-what-counts-as-what'],
  gateway: ['Calling agents', '../calling.md'],
  search: ['How search ranks', '../search.md'],
  issuers: ['Tokens', '../running.md#tokens'],
  peers: ['Federation', '../federation.md'],
  keys: ['When the database is away', '../running.md#when-the-database-is-away'],
  sessions: ['Signing in with a browser', '../running.md#signing-in-with-a-browser'],
  audit: ['Audit log', '../running.md#audit-log'],
  liveness: ['Checking whether agents can be reached', '../running.md#checking-whether-agents-can-be-reached'],
  probes: ['Trying agents with their own examples', '../running.md#trying-agents-with-their-own-examples'],
  mdns: ['Being found on the network', '../running.md#being-found-on-the-network'],
  crawl: ['Crawling', '../running.md#crawling'],
}

const INTRODUCTION = `# Config file

Every key of the file that \`--config\` names. It is JSON; all keys are optional, and an unknown one is an error that suggests
the most similar known key. [Running a directory](../running.md#start) lists the flags and variables that override some of them.

Editors complete and check the file if it names its schema, which every directory serves and the server package contains:

\`\`\`json
{ "$schema": "http://127.0.0.1:8040/docs/config.schema.json", "rateLimits": { "search": 300 } }
\`\`\`
`

/** The page. */
export function toConfigReference() {
  const { properties } = toEditorSchema()
  const groups = Object.entries(properties).filter(([, schema]) => rowsOf('', schema).length > 1)
  const single = Object.entries(properties).filter(([name]) => !groups.some(([group]) => group === name))
  return [
    INTRODUCTION,
    '## Single settings',
    tableOf(single.flatMap(([name, schema]) => rowsOf(name, schema))),
    ...groups.flatMap(([name, schema]) => [
      `\n## ${name}`,
      ...(MORE[name] ? [`See [${MORE[name][0]}](${MORE[name][1]}).\n`] : []),
      tableOf(rowsOf(name, schema)),
    ]),
    '',
  ].join('\n')
}

const tableOf = (rows) => ['| key | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n')

/** A row for a setting with a description, and for those inside it. */
function rowsOf(path, schema) {
  const inner = [schema, schema.items, schema.additionalProperties, ...(schema.anyOf ?? [])].flatMap((each) => {
    const separator = each === schema || schema.anyOf?.includes(each) ? '.' : each === schema.items ? '[].' : '.NAME.'
    return Object.entries(each?.properties ?? {}).flatMap(([name, child]) => rowsOf(path + separator + name, child))
  })
  const { description } = schema
  const cells = [`\`${path}${schema.items ? '[]' : ''}\``, typeOf(schema), defaultOf(schema), description]
  return description ? [`| ${cells.join(' | ')} |`, ...inner] : inner
}

function typeOf({ type, enum: values, anyOf, items, minimum, maximum, exclusiveMinimum, format, pattern }) {
  if (values) return values.map((value) => `\`${value}\``).join(', ')
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(' or ')
  if (type === 'array') return `list of ${items.properties ? 'objects' : 'strings'}`
  const least = minimum ?? (exclusiveMinimum === undefined ? undefined : `above ${exclusiveMinimum}`)
  const bounds = [least, maximum].filter((bound) => bound !== undefined).join(' to ')
  const name = format === 'uri' ? 'URL' : type
  return `${name}${bounds === '' || (minimum === 1 && maximum === undefined) ? '' : `, ${bounds}${maximum === undefined ? ' or more' : ''}`}${pattern ? `, \`${pattern}\`` : ''}`
}

const defaultOf = ({ default: value }) =>
  value === undefined
    ? ''
    : Array.isArray(value) && value.length > 4
      ? `\`${value.slice(0, 3).join('`, `')}\` …`
      : `\`${JSON.stringify(value).replaceAll(',', ', ')}\``
