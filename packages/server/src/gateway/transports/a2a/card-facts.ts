import { asObjects, asStrings, isObject, type JsonObject } from '@switchboard/protocol'

/** The media types that a card lists for a skill: its own, or else the defaults of the agent; in lower case. */
export function modesIn(card: JsonObject, skill: string, side: 'input' | 'output'): string[] {
  const own = asObjects(card.skills).find(({ id }) => id === skill)
  const modes = asStrings(own?.[`${side}Modes`])
  const listed =
    modes.length > 0 ? modes : asStrings(card[side === 'input' ? 'defaultInputModes' : 'defaultOutputModes'])
  return listed.map((mode) => mode.toLowerCase()).map((mode) => OLD_MODES[mode] ?? mode)
}

/** Before 0.3, modes were not media types. */
const OLD_MODES: Readonly<Record<string, string | undefined>> = { text: 'text/plain', data: 'application/json' }

/** Whether a card says that the agent streams; undefined if it says nothing. */
export function streamsIn({ capabilities }: JsonObject): boolean | undefined {
  const streaming = isObject(capabilities) ? capabilities.streaming : undefined
  return typeof streaming === 'boolean' ? streaming : undefined
}

/** The parts of a card that the functions above read. */
export function factsIn(card: JsonObject): JsonObject {
  const { defaultInputModes = [], defaultOutputModes = [] } = card
  const streaming = streamsIn(card)
  const skills = asObjects(card.skills).map(({ id = '', inputModes = [], outputModes = [] }) => ({
    id,
    inputModes,
    outputModes,
  }))
  const capabilities = streaming === undefined ? {} : { streaming }
  return { capabilities, defaultInputModes, defaultOutputModes, skills }
}
