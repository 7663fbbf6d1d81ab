import { createRequire } from 'node:module'
import { AgentError } from './errors.js'

/** Protocols whose SDK is an optional peer dependency: agents that do not offer them do not install it. */
export type OptionalProtocol = 'a2a' | 'mcp'

const SDKS = {
  a2a: { name: '@a2a-js/sdk', entry: '@a2a-js/sdk/server' },
  mcp: { name: '@modelcontextprotocol/server', entry: '@modelcontextprotocol/server' },
} satisfies Record<OptionalProtocol, { name: string; entry: string }>

/**
 * Whether the agent offers a protocol: by default, if its SDK is installed.
 *
 * @throws {AgentError} `invalid_definition` if it should and the SDK is missing
 */
export function offersProtocol(
  protocol: OptionalProtocol,
  wanted: boolean | undefined,
  isInstalled: (entry: string) => boolean = isInstalledHere,
): boolean {
  if (wanted === false) return false
  const { name, entry } = SDKS[protocol]
  if (isInstalled(entry)) return true
  if (wanted === undefined) return false
  throw new AgentError('invalid_definition', `${protocol}: true needs the package ${name}: run npm install ${name}`)
}

const { resolve } = createRequire(import.meta.url)

function isInstalledHere(entry: string): boolean {
  try {
    resolve(entry)
    return true
  } catch {
    return false
  }
}
