import { type JsonObject, type JsonValue, pointerToken } from '@switchboard/protocol'

/** Member names and array positions from the root of a document to a text. */
export type Path = readonly (string | number)[]

/** Called for every text. `path` is mutated after the call; convert it with `toPointer` to keep it. */
export type VisitText = (text: string, path: Path, kind: 'value' | 'name') => void

/**
 * Visits every text of a document, including members that no draft defines, because a reader sees them too: all string
 * values, and member names, which publishers choose in schemas.
 */
export function visitTexts(document: JsonObject, visit: VisitText): void {
  const path: (string | number)[] = []

  const visitValue = (value: JsonValue): void => {
    if (typeof value === 'string') visit(value, path, 'value')
    else if (Array.isArray(value)) value.forEach(visitItem)
    else if (typeof value === 'object' && value !== null) visitMembers(value)
  }
  const visitItem = (item: JsonValue, position: number): void => {
    path.push(position)
    visitValue(item)
    path.pop()
  }
  const visitMembers = (object: JsonObject): void => {
    for (const name of Object.keys(object)) {
      path.push(name)
      visit(name, path, 'name')
      const value = object[name]
      if (value !== undefined) visitValue(value)
      path.pop()
    }
  }

  visitMembers(document)
}

/** Member names are truncated to this many characters: publishers choose them, so they can contain instructions. */
const MAX_NAME_LENGTH = 32
const MAX_STEPS = 12
const NOT_VISIBLE = /[^\p{L}\p{N}\p{P}\p{S}]/gu

/** The JSON pointer of a path. Long names and deep paths are truncated, and invisible characters replaced by `?`. */
export function toPointer(path: Path): string {
  const steps = path
    .slice(0, MAX_STEPS)
    .map((step) => `/${typeof step === 'number' ? step : displayName(pointerToken(step))}`)
  return path.length > MAX_STEPS ? `${steps.join('')}/…` : steps.join('')
}

function displayName(name: string): string {
  const characters = [...name.slice(0, 2 * MAX_NAME_LENGTH)]
  const visible = characters.slice(0, MAX_NAME_LENGTH).join('').replace(NOT_VISIBLE, '?')
  return characters.length > MAX_NAME_LENGTH ? `${visible}…` : visible
}
