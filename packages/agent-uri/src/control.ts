import type { Params } from './params.js'

const CONTROL_PARAMS = ['version', 'sessionId', 'taskId'] as const

/** Words of the query which steer the call and are no input, unless the capability takes them as input. */
export type ControlParam = (typeof CONTROL_PARAMS)[number]

export interface SortedParams {
  readonly control: Readonly<Partial<Record<ControlParam, string | readonly string[]>>>
  readonly input: Params
}

/**
 * Tells control parameters from the input of a capability.
 *
 * @param inputProperties names of the properties that the capability's input has; these are always input
 *
 * @example
 * sortParams({ city: 'Rio', version: '2' }, ['city']) // { control: { version: '2' }, input: { city: 'Rio' } }
 */
export function sortParams(params: Params, inputProperties: Iterable<string> = []): SortedParams {
  const control = new Set<string>(CONTROL_PARAMS)
  for (const name of inputProperties) control.delete(name)
  const entries = Object.entries(params)
  return {
    control: Object.fromEntries(entries.filter(([name]) => control.has(name))),
    input: Object.fromEntries(entries.filter(([name]) => !control.has(name))),
  }
}
