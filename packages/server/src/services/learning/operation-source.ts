import type { AgentRecord, LearnedOperations } from '@switchboard/protocol'
import { endpointsOf } from '../../gateway/endpoints-of.js'
import { completeEndpoint, type GivenInputs } from '../calls/admission/remote-inputs.js'

/** Where an agent says what it can do. */
export interface OperationSource {
  readonly kind: LearnedOperations['source']
  /** The endpoint of the agent. */
  readonly url: string
  /** Headers that the endpoint asks for. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Where to read the operations of an agent: at the endpoint that is called first. Undefined if that speaks no protocol with
 * lists of operations, if the document says it all, or if the endpoint asks for values that are not given.
 */
export function operationSource(
  published: AgentRecord,
  given: GivenInputs = { headers: {} },
): OperationSource | undefined {
  const [first] = endpointsOf(published)
  const preferred = first && completeEndpoint(first, given)
  if (!preferred || /[{}]/.test(preferred.url)) return undefined
  const { protocol, url, headers } = preferred
  if (protocol === 'mcp') return { kind: 'mcp', url, ...(headers && { headers }) }
  if (protocol === 'a2a') return hasCard(published) ? undefined : { kind: 'a2a', url }
  return protocol === 'http' && hasOpenApi(published) ? { kind: 'openapi', url } : undefined
}

/** Whether an agent understands requests that name no operation: a message of A2A need not be about a skill. */
export const isOpenToAnything = (published: AgentRecord): boolean =>
  published.operations.length === 0 && operationSource(published)?.kind === 'a2a'

/** The publisher's own card: skills that it does not list are not offered here. */
const hasCard = ({ format, operations }: AgentRecord): boolean => format === 'a2a' && operations.length > 0

/** Whether the API is described by OpenAPI, but not in the document. */
function hasOpenApi({ bindings, protocols, operations }: AgentRecord): boolean {
  const isNamed = [...protocols, ...bindings.slice(0, 1).map(({ protocol }) => protocol)].some((name) =>
    /^openapi/i.test(name),
  )
  return isNamed && !(operations.length > 0 && operations.every(({ http }) => http !== undefined))
}
