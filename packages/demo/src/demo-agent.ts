import type { Agent } from '@switchboard/agent'
import type { DemoInfo, DocumentFormat, JsonObject } from '@switchboard/protocol'

/** A running agent that is not made with the kit, and the document that describes it. */
export interface DemoServer {
  readonly format: DocumentFormat
  readonly document: JsonObject
  close(): Promise<void>
}

/** An agent of the demo: made with the kit, or started as other software. */
export type DemoAgent = DemoInfo & ({ readonly create: () => Agent } | { readonly start: () => Promise<DemoServer> })
