/** Ids that are paths of the directory itself (C-04), or that no URL can carry. */
const RESERVED = new Set(['search', 'public', '.', '..'])
const MAX_ID = 512
const MAX_NAME = 255

/** Why a text cannot be an agent's id, or undefined if it can (C-30: one namespace for every draft). */
export function idProblem(id: string): string | undefined {
  return reservedProblem(id) ?? textProblem(id, MAX_ID)
}

/** The same for a name registered in the Agent Directory, which is an id with a shorter limit. */
export function agentNameProblem(name: string): string | undefined {
  return reservedProblem(name) ?? textProblem(name, MAX_NAME)
}

/** The same for a capability: its name is asked for like an agent's (AD §5.1), but is no part of a path. */
export function capabilityNameProblem(name: string): string | undefined {
  return textProblem(name, MAX_NAME)
}

/** Why a text cannot name the holder of a credential, or undefined if it can: subjects are stored, compared and shown. */
export function subjectProblem(subject: string): string | undefined {
  if (subject === '') return 'must not be empty'
  return characterProblem(subject)
}

/** Whether a protocol such as "mcp/1.0" matches a requested one such as "mcp"; case-insensitive (C-20). */
export function matchesProtocol(requested: string, protocol: string): boolean {
  const [wanted, has] = [requested.toLowerCase(), protocol.toLowerCase()]
  return has === wanted || has.split('/')[0] === wanted
}

function reservedProblem(id: string): string | undefined {
  return RESERVED.has(id) ? `is reserved: "${id}" is a path of the directory` : undefined
}

function textProblem(text: string, maxLength: number): string | undefined {
  if (text === '') return 'is empty'
  if (text.includes('*')) return 'contains "*", which lookups read as a prefix match'
  const problem = characterProblem(text)
  if (problem !== undefined) return problem
  return [...text].length > maxLength ? `is longer than ${maxLength} characters` : undefined
}

function characterProblem(text: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return 'contains a control character'
  return text.isWellFormed() ? undefined : 'contains half of a surrogate pair'
}
