import { type JsonObject, type JsonValue, pointerToken } from '@switchboard/protocol'

/** Where a text stands: member names and positions from the root of the document. */
export type Path = readonly (string | number)[]

/** Called for every text; `path` changes after the call, so what is to be kept is made into a pointer. */
export type VisitText = (text: string, path: Path, kind: 'value' | 'name') => void

/**
 * Visits every text of a document: all values, and the names of members, which publishers choose in schemas. Whichever
 * draft the document follows, whoever reads it reads all of it.
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

/** Letters of a name that are shown: publishers choose the names in schemas, and a name can be an order, too. */
const MAX_NAME_LENGTH = 32
const MAX_STEPS = 12
const UNSEEN = /[^\p{L}\p{N}\p{P}\p{S}]/gu

/** The JSON pointer of a path; what could mislead whoever reads it is cut, and what cannot be seen is replaced. */
export function toPointer(path: Path): string {
  const steps = path
    .slice(0, MAX_STEPS)
    .map((step) => `/${typeof step === 'number' ? step : shown(pointerToken(step))}`)
  return path.length > MAX_STEPS ? `${steps.join('')}/…` : steps.join('')
}

function shown(name: string): string {
  const characters = [...name.slice(0, 2 * MAX_NAME_LENGTH)]
  const seen = characters.slice(0, MAX_NAME_LENGTH).join('').replace(UNSEEN, '?')
  return characters.length > MAX_NAME_LENGTH ? `${seen}…` : seen
}
