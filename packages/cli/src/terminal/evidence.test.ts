import stringWidth from 'string-width'
import { expect, it } from 'vitest'
import { formatEvidence } from './evidence.js'
import { PLAIN } from './style.js'

const agent = {
  id: 'translator',
  name: '翻译',
  description: '',
  capabilities: [],
  tags: [],
  score: 0.7,
  evidence: {
    components: {},
    explanation: [
      { component: 'words', value: 0.5, text: 'translate, contract' },
      { component: 'freshness', value: -0.1, text: 'not confirmed for 40 days' },
      { component: 'context', value: 0.3, text: 'Translates contracts.' },
    ],
    snippets: ['Translates contracts.'],
    matchedWords: ['translate', 'contract'],
    matchedTags: [],
    matchedExamples: [],
  },
  document: { id: 'translator', corrected_words: [{ from: 'contrat', to: 'contract' }] },
}

it('draws the parts of a score as bars that add up', () => {
  expect(formatEvidence(agent, { style: PLAIN })).toBe(`translator  0.7000  翻译
  words       ██████████             +0.5000  translate, contract
  context               ██████       +0.3000  Translates contracts.
  freshness                 ░░       -0.1000  not confirmed for 40 days
  matched     translate, contract
  corrected   "contract" instead of "contrat"
  text        Translates contracts.
`)
})

it('is cut to the width of the terminal', () => {
  const lines = formatEvidence(agent, { style: PLAIN, width: 50 }).split('\n')
  expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(50)
  expect(lines[1]).toBe('  words       ██████████             +0.5000  tra…')
})
