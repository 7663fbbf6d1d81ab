import { type AgentUri, type ControlParam, type Params, sortParams } from '@switchboard/agent-uri'
import { type AgentRecord, type Capability, checkPublisherSchema, declaresMember } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { decodeSegment, rejectDotSegments } from './uri-path.js'

/** The capability that a URI names, and its parameters. */
export interface ChosenCapability {
  readonly capability?: string
  readonly capabilityDetails?: Capability
  readonly params: Params
  readonly control: Readonly<Partial<Record<ControlParam, string>>>
  readonly warnings: readonly string[]
}

/**
 * Reads the capability from the rest of the path, else from the fragment (C-88), and divides the query into input and
 * control parameters (C-89).
 */
export function chooseCapability(
  uri: AgentUri,
  rest: readonly string[],
  record: AgentRecord | undefined,
): ChosenCapability {
  const name = rest.map(decodeSegment).join('/') || decodeSegment(uri.fragment ?? '')
  rejectDotSegments(`/${name}`)
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

/** Removes schemas that cannot be checked safely, because inputs and outputs are checked against them. */
function withUsableSchema(capability: Capability): { details: Capability; warnings: string[] } {
  const { input, output, ...rest } = capability
  const isUsable = (schema: Capability['input']) => schema && checkPublisherSchema(schema, '').length === 0
  const dropped = [...(input && !isUsable(input) ? ['input'] : []), ...(output && !isUsable(output) ? ['output'] : [])]
  return {
    details: { ...rest, ...(input && isUsable(input) && { input }), ...(output && isUsable(output) && { output }) },
    warnings: dropped.map((member) => `the ${member} schema of "${capability.name}" is not usable and is ignored`),
  }
}

function single(name: string, value: string | readonly string[] | undefined): string {
  if (typeof value === 'string') return value
  throw new ClientError('invalid_uri', `the query has more than one "${name}"`)
}
