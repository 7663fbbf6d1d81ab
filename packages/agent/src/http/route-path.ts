import { AgentError } from '../errors.js'
import type { Target } from './invocation.js'

/** Segments of a path below the agent, decoded one by one; undefined if the path is not below it. */
export function segmentsBelow(pathname: string, basePath: string): string[] | undefined {
  if (pathname !== basePath && !pathname.startsWith(`${basePath}/`)) return undefined
  const rest = pathname.slice(basePath.length).replace(/^\//, '').replace(/\/$/, '')
  return rest === '' ? [] : rest.split('/').map(decode)
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    throw new AgentError('invalid_input', 'the path has an invalid percent-encoding', { cause })
  }
}

/** Version and capability in a path: `/v1.2.0/translate` names both, `/` and `/invoke` name none (C-63). */
export function targetOf(path: readonly string[]): Target {
  const [first = '', ...others] = path
  const version = /^v(\d[\w.+-]*)$/.exec(first)?.[1]
  const rest = version === undefined ? path : others
  const name = rest.join('/')
  return { version, capability: name === '' || name === 'invoke' ? undefined : name }
}
