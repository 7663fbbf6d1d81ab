/** Ids that are paths of the directory itself (C-04), or that no URL can carry. */
const RESERVED = new Set(['search', 'public', '.', '..'])
const MAX_ID = 512
const MAX_AGENT_NAME = 255

/** Why a text cannot be an agent's id, or undefined if it can (C-30: one namespace for every draft). */
export function idProblem(id: string): string | undefined {
  if (id === '') return 'is empty'
  if (RESERVED.has(id)) return `is reserved: "${id}" is a path of the directory`
  if (id.includes('*')) return 'contains "*", which lookups read as a prefix match'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(id)) return 'contains a control character'
  if (!id.isWellFormed()) return 'contains half of a surrogate pair'
  if ([...id].length > MAX_ID) return `is longer than ${MAX_ID} characters`
  return undefined
}

/** The same for a name registered in the Agent Directory, which is an id with a shorter limit. */
export function agentNameProblem(name: string): string | undefined {
  return [...name].length > MAX_AGENT_NAME ? `is longer than ${MAX_AGENT_NAME} characters` : idProblem(name)
}
