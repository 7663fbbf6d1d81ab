import { describe, expect, it } from 'vitest'
import { factsIn, modesIn, streamsIn } from './card-facts.js'

const card = {
  name: 'A',
  capabilities: { streaming: true, extensions: [] },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['Text', 'data', 'image/png'],
  skills: [
    { id: 'draw', name: 'Draw', inputModes: ['application/json'] },
    { id: 'say', inputModes: [] },
  ],
}

describe('the facts in a card', () => {
  it.each([card, factsIn(card)])(
    'are the modes of the skill or the defaults of the agent, and whether it streams',
    (facts) => {
      expect(modesIn(facts, 'draw', 'input')).toEqual(['application/json'])
      expect(modesIn(facts, 'say', 'input')).toEqual(['text/plain'])
      expect(modesIn(facts, 'other', 'input')).toEqual(['text/plain'])
      expect(modesIn(facts, 'draw', 'output')).toEqual(['text/plain', 'application/json', 'image/png'])
      expect(streamsIn(facts)).toBe(true)
    },
  )

  it('are unknown if the card does not say', () => {
    for (const facts of [{}, factsIn({}), { capabilities: ['a'], skills: 'none', defaultInputModes: 1 }]) {
      expect(modesIn(facts, 'x', 'input')).toEqual([])
      expect(streamsIn(facts)).toBeUndefined()
    }
    expect(JSON.stringify(factsIn(card))).not.toContain('Draw')
  })
})
