import type { Params } from './params.js'

const CONTROL_PARAMS = ['version', 'sessionId', 'taskId'] as const

/** Query parameters that control the call. They are not input, unless the capability declares them as input. */
export type ControlParam = (typeof CONTROL_PARAMS)[number]

export interface SortedParams {
  readonly control: Readonly<Partial<Record<ControlParam, string | readonly string[]>>>
  readonly input: Params
}

/**
 * Separates the control parameters from the input of a capability.
 *
 * @param inputProperties names of the properties of the capability's input; parameters with these names are always input
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
