export { type AgentIndex, createAgentIndex, type Ranked, type Selection } from './agent-index.js'
export { type Condition, type NamePattern, speaksProtocol } from './conditions.js'
export type { IndexedAgent, View } from './entry.js'
