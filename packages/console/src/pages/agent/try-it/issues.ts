import { ClientError } from '@switchboard/client'
import {
  asObjects,
  asString,
  isObject,
  type JsonObject,
  type JsonValue,
  pointerToken,
} from '@switchboard/protocol/json'
import { createPublisherSchemas } from '@switchboard/protocol/schema'

/** What is wrong with an input; `at` is a JSON pointer. */
export interface InputIssue {
  readonly at: string
  readonly message: string
}

// The checker of the directory itself: the same judgement and the same words, and patterns that take linear time, because a
// publisher could write one that takes for ever.
const schemas = createPublisherSchemas()

/** Checks an input as the directory will. An undefined value is missing altogether. */
export function checkInput(schema: JsonObject, value: JsonValue | undefined): InputIssue[] {
  return schemas.check(schema, value === undefined ? {} : value).map(({ at, message }) => ({ at, message }))
}

/** Whether a value fits an alternative of a schema, whose definitions are in `root`. */
export const fits = (alternative: JsonObject, root: JsonObject, value: JsonValue): boolean =>
  checkPart(alternative, root, value).length === 0

/** Checks a value against one alternative, so that its members can be marked. */
export function checkPart(alternative: JsonObject, root: JsonObject, value: JsonValue): InputIssue[] {
  const { $schema, $defs, definitions } = root
  const shared = { ...($schema && { $schema }), ...($defs && { $defs }), ...(definitions && { definitions }) }
  return checkInput({ ...shared, ...alternative }, value)
}

/** The issues that the directory or the agent found, if its error names members. */
export function issuesOfError(error: unknown): InputIssue[] {
  const details = error instanceof ClientError ? error.details : undefined
  const body = isJsonObject(details) && isJsonObject(details.error) ? details.error : undefined
  return asObjects(body?.details).flatMap(({ member, message }) => {
    const at = asString(member)
    return at === undefined ? [] : [{ at, message: asString(message) ?? '' }]
  })
}

const isJsonObject = (value: unknown): value is JsonObject => isObject(value)

/** The pointer of a member or an item. */
export const pointerTo = (parent: string, name: string | number): string => `${parent}/${pointerToken(String(name))}`

/** The id of the field at a pointer, to focus it. */
export const fieldId = (pointer: string): string => `input:${pointer}`
