import type { JsonValue } from '@switchboard/protocol/json'

/** How a call is made. */
export type CallMode = 'wait' | 'stream' | 'later' | 'batch'

/** What a call consists of, to write it down as code. */
export interface CallRecipe {
  readonly baseUrl: string
  readonly agent: string
  readonly operation: string | undefined
  readonly input: JsonValue
  readonly mode: CallMode
  readonly searchId: string | undefined
  /** The kind of credential that the agent itself needs. */
  readonly agentCredential: 'api_key' | 'bearer' | undefined
}

/** Longer inputs are read from a file, because nobody reads or pastes such a line. */
const MAX_INLINE = 4000
/** The name of that file. */
export const INPUT_FILE = 'input.json'

export const isInFile = ({ input }: CallRecipe): boolean => JSON.stringify(input).length > MAX_INLINE

/** Text as one word of a POSIX shell. */
export const quoteForShell = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

/** The path of a call below the directory. */
const pathOf = ({ agent, operation }: CallRecipe): string =>
  `/agents/${encodeURIComponent(agent)}/${operation === undefined ? 'invoke' : `operations/${encodeURIComponent(operation)}`}`

export function toCurl(recipe: CallRecipe): string {
  const { baseUrl, input, mode, searchId, agentCredential } = recipe
  const body = isInFile(recipe) ? `@${INPUT_FILE}` : quoteForShell(JSON.stringify(input))
  const headers = [
    '"Authorization: Bearer $SWITCHBOARD_TOKEN"',
    "'Content-Type: application/json'",
    ...(mode === 'stream' ? ["'Accept: text/event-stream'"] : []),
    ...(mode === 'later' ? ["'Prefer: respond-async'"] : []),
    ...(searchId === undefined ? [] : [quoteForShell(`X-Search-ID: ${searchId}`)]),
    ...(agentCredential === 'api_key' ? ['"X-Agent-API-Key: $SWITCHBOARD_AGENT_KEY"'] : []),
    ...(agentCredential === 'bearer' ? ['"X-Agent-Authorization: Bearer $SWITCHBOARD_AGENT_TOKEN"'] : []),
  ]
  return [
    `curl ${mode === 'stream' ? '-sN' : '-s'} ${quoteForShell(baseUrl + pathOf(recipe))}`,
    ...headers.map((header) => `-H ${header}`),
    `--data-binary ${body}`,
  ].join(' \\\n  ')
}

export function toCommand(recipe: CallRecipe): string {
  const { baseUrl, agent, operation, input, mode, searchId } = recipe
  return [
    `switchboard call ${quoteForShell(agent)}`,
    ...(operation === undefined ? [] : [`--operation ${quoteForShell(operation)}`]),
    `--input ${isInFile(recipe) ? `@${INPUT_FILE}` : quoteForShell(JSON.stringify(input))}`,
    ...(mode === 'stream' ? ['--stream'] : []),
    ...(searchId === undefined ? [] : [`--search-id ${quoteForShell(searchId)}`]),
    `--url ${quoteForShell(baseUrl)}`,
  ].join(' \\\n  ')
}

export function toTypeScript(recipe: CallRecipe): string {
  const { baseUrl, agent, operation, mode, searchId, agentCredential } = recipe
  const fromFile = isInFile(recipe)
  const options = [
    ...(operation === undefined ? [] : [`operation: ${JSON.stringify(operation)}`]),
    ...(mode === 'later' ? ['respondAsync: true'] : []),
    ...(searchId === undefined ? [] : [`searchId: ${JSON.stringify(searchId)}`]),
    ...(agentCredential === 'api_key'
      ? ["credentials: { type: 'api_key', key: process.env.SWITCHBOARD_AGENT_KEY ?? '' }"]
      : []),
    ...(agentCredential === 'bearer'
      ? ["credentials: { type: 'bearer', token: process.env.SWITCHBOARD_AGENT_TOKEN ?? '' }"]
      : []),
  ]
  const call = `(${JSON.stringify(agent)}, input${options.length > 0 ? `, { ${options.join(', ')} }` : ''})`
  return [
    ...(fromFile ? ["import { readFile } from 'node:fs/promises'"] : []),
    "import { createClient } from '@switchboard/client'",
    '',
    `const directory = createClient({ baseUrl: ${JSON.stringify(baseUrl)}, token: process.env.SWITCHBOARD_TOKEN ?? '' })`,
    `const input = ${fromFile ? `JSON.parse(await readFile('${INPUT_FILE}', 'utf8'))` : toLiteral(recipe.input)}`,
    ...(mode === 'stream'
      ? [`for await (const { data } of directory.stream${call}) console.log(data)`]
      : [`const { output } = await directory.invoke${call}`, 'console.log(output)']),
    '',
  ].join('\n')
}

/** JSON as an expression. A member `__proto__` would set the prototype, unless its name is computed. */
const toLiteral = (value: JsonValue): string =>
  JSON.stringify(value, null, 2).replaceAll(/^(\s*)"__proto__":/gm, '$1["__proto__"]:')
