import type { JsonObject } from './json.js'

/** What can be tried with an agent of the demo, as `/admin/demo` of a directory shows it. */
export interface DemoInfo {
  /** Its id in the directory. */
  readonly id: string
  /** What this agent shows. */
  readonly shows: string
  /** Words that find it. */
  readonly query: string
  /** An input to call it with. */
  readonly input: JsonObject
  /** The operation to call, if the agent has several. */
  readonly operation?: string
  /** Its response is a stream. */
  readonly streams?: boolean
  /** The key that its callers need. */
  readonly key?: string
}
