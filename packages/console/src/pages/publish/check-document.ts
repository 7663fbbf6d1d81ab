import { asObjects, asString, asStrings, isObject, type JsonObject } from '@switchboard/protocol/json'
import { RequestError, requestJson } from '../../app/api.js'
import { strings } from '../../strings.js'

/** A member that is wrong, as a JSON pointer, or nothing if the whole document is. */
export interface Problem {
  readonly member: string | undefined
  readonly message: string
}

/** What registering a text would do. */
export type Check =
  | { readonly state: 'empty' }
  | { readonly state: 'wrong'; readonly problems: readonly Problem[]; readonly remedy?: string }
  | {
      readonly state: 'right'
      readonly document: JsonObject
      readonly id: string
      readonly format: string
      readonly effect: string
      readonly warnings: readonly string[]
      readonly views: Readonly<Record<string, JsonObject>>
    }

/** Asks the directory what registering the text would do; throws if that cannot be found out. */
export async function checkText(text: string, id: string, signal: AbortSignal): Promise<Check> {
  if (text.trim() === '') return { state: 'empty' }
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (error) {
    return wrong(strings.publish.notJson(error instanceof Error ? error.message : String(error)))
  }
  if (!isObject(document)) return wrong(strings.publish.notObject)
  try {
    const path = id === '' ? '/preview' : `/preview?${new URLSearchParams({ id })}`
    const body = await requestJson(path, { method: 'POST', body: document, signal })
    const { views } = isObject(body) ? body : {}
    if (!isObject(body) || !isObject(views)) throw new Error(strings.publish.noPreview)
    return {
      state: 'right',
      document,
      id: asString(body.id) ?? id,
      format: asString(body.format) ?? '',
      effect: asString(body.effect) ?? '',
      warnings: asStrings(body.warnings),
      views: Object.fromEntries(
        Object.entries(views).flatMap(([name, view]) => (isObject(view) ? [[name, view]] : [])),
      ),
    }
  } catch (error) {
    if (error instanceof RequestError && REFUSALS.has(error.status)) return toProblems(error)
    throw error
  }
}

/** Statuses with which the directory says that the document cannot be registered as it is. */
const REFUSALS = new Set([400, 403, 409, 412, 413, 422])

/** What the directory found wrong, member by member if it says so. */
export function toProblems(error: RequestError): Check {
  const { body, message, status } = error
  const details = isObject(body) && isObject(body.error) ? asObjects(body.error.details) : []
  const problems = details.map(({ member, message: text }) => ({
    member: asString(member),
    message: asString(text) ?? '',
  }))
  const remedy = strings.publish.remedies[status]
  return {
    state: 'wrong',
    problems: problems.length > 0 ? problems : [{ member: undefined, message }],
    ...(remedy !== undefined && { remedy }),
  }
}

const wrong = (message: string): Check => ({ state: 'wrong', problems: [{ member: undefined, message }] })
