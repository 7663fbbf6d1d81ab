// Agents beyond those of the load set: mixtures of them, the same at every run.
import { seeded } from './vectors-data.mjs'

const SYLLABLES =
  'ba be bo ca co da de di do fa fe ga go ha ka ki la le li lo ma me mi mo na ne no pa po ra re ri ro sa se si ta te ti to va vo za zo'.split(
    ' ',
  )

/** So every second agent brings a word that nobody else has, as a growing directory does. */
const NEW_WORD_SHARE = 0.5

/**
 * @param records real ones, which come first
 * @returns the record at a position; each has the texts of several real ones, so that words are as common as among those
 */
export function createAgentMixer(records) {
  const random = seeded(3)
  const any = () => records[Math.floor(random() * records.length)]
  const newWord = () => Array.from({ length: 4 }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join('')
  return (position) => {
    if (position < records.length) return records[position]
    const { name, tags } = any()
    return {
      ...any(),
      id: `made-up/${position}`,
      name: random() < NEW_WORD_SHARE ? `${newWord()} ${name}` : name,
      description: any().description,
      tags,
    }
  }
}
