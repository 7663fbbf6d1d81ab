// Synthetic agents beyond the load set: mixtures of its agents, the same in every run.
import { seeded } from '../registry/data.mjs'

const SYLLABLES =
  'ba be bo ca co da de di do fa fe ga go ha ka ki la le li lo ma me mi mo na ne no pa po ra re ri ro sa se si ta te ti to va vo za zo'.split(
    ' ',
  )

/** Share of agents with a word that no other agent has, because the vocabulary of a directory grows with its size. */
const NEW_WORD_SHARE = 0.5

/**
 * @param records real records, which come first
 * @returns a function from position to record. Synthetic records combine the texts of real ones, to keep word frequencies
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
      id: `synthetic/${position}`,
      name: random() < NEW_WORD_SHARE ? `${newWord()} ${name}` : name,
      description: any().description,
      tags,
    }
  }
}
