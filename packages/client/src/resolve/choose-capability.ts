import { type AgentUri, type ControlParam, type Params, sortParams } from '@switchboard/agent-uri'
import { type AgentRecord, type Capability, checkPublisherSchema, isObject, toJsonSchema } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { decodePart, refuseDots } from './uri-path.js'

/** What of an agent is asked for, and with what. */
export interface ChosenCapability {
  readonly capability?: string
  readonly capabilityDetails?: Capability
  readonly params: Params
  readonly control: Readonly<Partial<Record<ControlParam, string>>>
  readonly warnings: readonly string[]
}

/**
 * The capability that the rest of the path names, else the fragment (C-88), and the query sorted into its input and
 * what steers the call (C-89).
 */
export function chooseCapability(
  uri: AgentUri,
  rest: readonly string[],
  record: AgentRecord | undefined,
): ChosenCapability {
  const name = rest.map(decodePart).join('/') || decodePart(uri.fragment ?? '')
  refuseDots(`/${name}`)
  const listed = record?.capabilities.find((capability) => capability.name === name)
  const unlisted = name !== '' && !listed && record && record.capabilities.length > 0
  const { details, warnings } = listed ? withUsableSchema(listed) : { details: undefined, warnings: [] }
  const properties = details?.input && toJsonSchema(details.input).properties
  const { control, input } = sortParams(uri.params ?? {}, isObject(properties) ? Object.keys(properties) : [])
  return {
    ...(name !== '' && { capability: name }),
    ...(details && { capabilityDetails: details }),
    params: input,
    control: Object.fromEntries(Object.entries(control).map(([key, value]) => [key, single(key, value)])),
    warnings: [...warnings, ...(unlisted ? [`the descriptor lists no capability "${name}"`] : [])],
  }
}

/** Inputs are checked against the capability's schema; one that could stall the check is not handed on. */
function withUsableSchema(capability: Capability): { details: Capability; warnings: string[] } {
  const { input, output, ...rest } = capability
  const isUsable = (schema: Capability['input']) => schema && checkPublisherSchema(schema, '').length === 0
  const dropped = [...(input && !isUsable(input) ? ['input'] : []), ...(output && !isUsable(output) ? ['output'] : [])]
  return {
    details: { ...rest, ...(input && isUsable(input) && { input }), ...(output && isUsable(output) && { output }) },
    warnings: dropped.map((member) => `the ${member} schema of "${capability.name}" is not usable and was left out`),
  }
}

function single(name: string, value: string | readonly string[] | undefined): string {
  if (typeof value === 'string') return value
  throw new ClientError('invalid_uri', `"${name}" stands twice in the query and can have one value only`)
}
