import { isSpiffe, parseSpiffeId } from './spiffe-id.js'

/** Ids that are paths of the directory itself (C-04), or that a URL path cannot contain. */
const RESERVED = new Set(['search', 'public', '.', '..'])
const MAX_ID = 512
const MAX_NAME = 255
/** UTF-8 bytes. Databases index subjects, and an index of PostgreSQL takes no more than 2700 bytes. */
const MAX_SUBJECT_BYTES = 2048

/** Why a text is not a valid agent id; `undefined` if it is valid. All drafts share one namespace (C-30). */
export function idProblem(id: string): string | undefined {
  return reservedProblem(id) ?? textProblem(id, MAX_ID)
}

/** Why a text is not a valid name in the Agent Directory; `undefined` if it is. A name is an id with a shorter limit. */
export function agentNameProblem(name: string): string | undefined {
  return reservedProblem(name) ?? textProblem(name, MAX_NAME)
}

/** Why a text is not a valid capability name; `undefined` if it is. Unlike an id, it is not part of a path (AD §5.1). */
export function capabilityNameProblem(name: string): string | undefined {
  return textProblem(name, MAX_NAME)
}

/** Why a text is not a valid subject (the holder of a credential); `undefined` if it is valid. */
export function subjectProblem(subject: string): string | undefined {
  if (subject === '') return 'must not be empty'
  if (isSpiffe(subject) && !parseSpiffeId(subject))
    return 'is not the SPIFFE id of a workload, such as spiffe://example.org/billing'
  const problem = characterProblem(subject)
  if (problem !== undefined) return problem
  const isTooLong = new TextEncoder().encode(subject).byteLength > MAX_SUBJECT_BYTES
  return isTooLong ? `is longer than ${MAX_SUBJECT_BYTES} bytes` : undefined
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
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return 'contains a control character'
  return text.isWellFormed() ? undefined : 'contains a lone surrogate, which is not valid Unicode'
}

/** RFC 4647 basic filtering: "zh" matches "zh-CN", but not the reverse; case-insensitive (C-13). */
export function matchesLanguage(range: string, tag: string): boolean {
  const [wanted, has] = [range.toLowerCase(), tag.toLowerCase()]
  return wanted === '*' || has === wanted || has.startsWith(`${wanted}-`)
}

/** Whether an agent supports a language; one without a list supports every language (AIDIP §3.1). */
export function speaks(languages: readonly string[] | undefined, range: string): boolean {
  return languages === undefined || languages.some((tag) => matchesLanguage(range, tag))
}

/** The form in which AIDIP and the profile compare tags and capability names (C-16). */
export const foldTag = (tag: string): string => (BEYOND_ASCII.test(tag) ? tag.normalize('NFC') : tag).toLowerCase()

/** Most tags are ASCII, which needs no normalisation, and filters fold the tags of every agent. */
const BEYOND_ASCII = /[\u0080-\uffff]/

/** Whether a text is a URI of RFC 3986 with a scheme, and without characters that a URI cannot contain. */
export function isAbsoluteUri(value: string): boolean {
  return (
    /^[a-z][a-z0-9+.-]*:[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/i.test(value) && isUrlIfHierarchical(value)
  )
}

/** Whether a text is an absolute URI, or a path on the host of the document. "//host" would be another host. */
export function isEndpoint(value: string): boolean {
  return /^\/(?!\/)/.test(value) ? isAbsoluteUri(`https://path.invalid${value}`) : isAbsoluteUri(value)
}

function isUrlIfHierarchical(value: string): boolean {
  return !/^(https?|wss?):/i.test(value) || URL.canParse(value)
}
