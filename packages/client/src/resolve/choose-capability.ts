import { type AgentUri, type ControlParam, type Params, sortParams } from '@switchboard/agent-uri'
import { type AgentRecord, type Capability, checkPublisherSchema, declaresMember } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { decodePart, refuseDots } from './uri-path.js'

/** The capability that a URI asks for, and its parameters. */
export interface ChosenCapability {
  readonly capability?: string
  readonly capabilityDetails?: Capability
  readonly params: Params
  readonly control: Readonly<Partial<Record<ControlParam, string>>>
  readonly warnings: readonly string[]
}

/**
 * The capability that the rest of the path names, else the fragment (C-88), and the query divided into input and
 * control parameters (C-89).
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
  const params = uri.params ?? {}
  const inputs = details?.input ?? {}
  const declared = Object.keys(params).filter((parameter) => declaresMember(inputs, parameter))
  const { control, input } = sortParams(params, declared)
  return {
    ...(name !== '' && { capability: name }),
    ...(details && { capabilityDetails: details }),
    params: input,
    control: Object.fromEntries(Object.entries(control).map(([key, value]) => [key, single(key, value)])),
    warnings: [...warnings, ...(unlisted ? [`the descriptor lists no capability "${name}"`] : [])],
  }
}

/** Inputs are checked against the capability's schema, so a schema that could stall the check is left out. */
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
