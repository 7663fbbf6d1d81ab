import { DirectoryError, type JsonObject, type JsonValue, parseJson } from '@switchboard/protocol'
import type { FormFile, Input } from '../../services/calls/request/invocation.js'

/** Name of the part that is the input itself, as JSON (C-66). */
const INPUT_PART = 'input'

/** A form: the part `input`, other text parts as its members, and files. */
export async function readForm(contentType: string, body: Buffer): Promise<Input> {
  const members: JsonObject = {}
  const files: FormFile[] = []
  let input: JsonValue = {}
  for (const [name, part] of await parseForm(contentType, body)) {
    if (name === INPUT_PART) input = parseJson(typeof part === 'string' ? part : await part.text())
    else if (typeof part === 'string') members[name] = part
    else files.push({ name, bytes: new Uint8Array(await part.arrayBuffer()) })
  }
  return { kind: 'form', value: withMembers(input, members), files, contentType, body }
}

async function parseForm(contentType: string, body: Buffer): Promise<FormData> {
  try {
    return await new Response(body, { headers: { 'content-type': contentType } }).formData()
  } catch (cause) {
    throw new DirectoryError('invalid_request', 'the body is not valid multipart/form-data', { cause })
  }
}

const withMembers = (input: JsonValue, members: JsonObject): JsonValue =>
  typeof input === 'object' && input !== null && !Array.isArray(input) ? { ...input, ...members } : input
