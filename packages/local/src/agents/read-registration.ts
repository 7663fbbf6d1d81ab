import { stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { isAbsolute, normalize } from 'node:path'
import { detectFormat, isObject, type JsonObject, readRecord, validateDocument } from '@switchboard/protocol'
import { LocalError } from '../local-error.js'
import type { LocalAgent, Target } from './local-agent.js'

/** The parsed body of a registration: `{"socket" or "url", "descriptor"?}`. */
export interface RegistrationRequest {
  readonly target: Target
  /** If undefined, the runtime fetches the descriptor from the agent. */
  readonly descriptor: JsonObject | undefined
}

/** A name is the host of a URI (RFC 3986 reg-name). */
const NAME = /^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$/

/** Parses an agent's name; names are case-insensitive. */
export function readName(text: string): string {
  const name = text.toLowerCase()
  if (NAME.test(name)) return name
  throw new LocalError(
    'invalid_input',
    'the name of a local agent must have 1 to 63 letters, digits, ".", "_" or "-", and begin and end with a letter or digit',
  )
}

/** Parses the body of a registration and checks that its socket or URL is on this computer. */
export async function readRegistration(body: JsonObject): Promise<RegistrationRequest> {
  const { socket, url, descriptor } = body
  if (descriptor !== undefined && !isObject(descriptor)) {
    throw new LocalError('invalid_input', '/descriptor must be an object')
  }
  if (typeof socket === 'string' && url === undefined) return { target: await readSocket(socket), descriptor }
  if (typeof url === 'string' && socket === undefined) return { target: { url: readUrl(url) }, descriptor }
  throw new LocalError('invalid_input', 'give either /socket, the path of the agent’s socket, or /url')
}

/** A socket of another user is rejected: that user could impersonate the agent. */
async function readSocket(path: string): Promise<Target> {
  if (!isAbsolute(path) || normalize(path) !== path) {
    throw new LocalError('invalid_input', '/socket must be an absolute path without ".."')
  }
  const found = await stat(path).catch(() => undefined)
  if (!found?.isSocket()) throw new LocalError('invalid_input', `/socket: there is no socket at ${path}`)
  const { uid } = userInfo()
  if (uid !== -1 && found.uid !== uid) throw new LocalError('invalid_input', `/socket: ${path} belongs to another user`)
  return { socket: path }
}

/** Loopback literals, and the one host name that always means this computer. */
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost'])

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' || !LOOPBACK.has(url.hostname)) {
    throw new LocalError('invalid_input', '/url must be an http URL on 127.0.0.1, [::1] or localhost')
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new LocalError('invalid_input', '/url must have no userinfo, query or fragment')
  }
  return url.href.replace(/\/+$/, '')
}

/** Reads name, description and capabilities from a descriptor of any draft. */
export function describeAgent(name: string, target: Target, descriptor: JsonObject): LocalAgent {
  const format = detectFormat(descriptor) ?? 'descriptor'
  const wrong = validateDocument(format, descriptor).find(({ at }) => /^\/(capabilities|operations|skills)\b/.test(at))
  if (wrong) throw new LocalError('invalid_input', `/descriptor${wrong.at} ${wrong.message}`)
  const { description, capabilities, operations } = readRecord(format, descriptor, name)
  const names = [...operations, ...capabilities].map((item) => item.name)
  return { name, description, capabilities: [...new Set(names)].filter(isCallable), target, descriptor }
}

/** Excludes names that cannot be a path segment, and those with a meaning of their own: `*` and `invoke`. */
const isCallable = (name: string): boolean =>
  name !== '' && name !== '*' && name !== 'invoke' && !name.split('/').some((part) => /^\.{0,2}$/.test(part))
