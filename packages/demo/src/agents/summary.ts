import { type Agent, createAgent } from '@switchboard/agent'

/** Words that say nothing about what a text is about. */
const STOP_WORDS = new Set(
  'a an and are as at be but by for from had has have he her his i in is it its me my not of on or our she so that the their them they this to was we were what which who will with you your'.split(
    ' ',
  ),
)

const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP_WORDS.has(word))

/** The sentences whose words occur most often in the text, in their original order. */
function summarize(text: string, sentences: number): string[] {
  const split = new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)
  const all = [...split].map(({ segment }) => segment.trim()).filter((sentence) => sentence !== '')
  const counts = new Map<string, number>()
  for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const scored = all.map((sentence, at) => {
    const words = wordsOf(sentence)
    const sum = words.reduce((total, word) => total + (counts.get(word) ?? 0), 0)
    return { at, sentence, score: sum / Math.max(5, words.length) }
  })
  const best = scored.sort((a, b) => b.score - a.score).slice(0, sentences)
  return best.sort((a, b) => a.at - b.at).map(({ sentence }) => sentence)
}

/** An optional member (`integer?`), and a result that reports how much it left out. */
export const createSummary = (): Agent =>
  createAgent({
    id: 'demo-summary',
    name: 'Summarizer',
    version: '1.0.0',
    description: 'Shortens a long text or article to its most important sentences, in the words of its author.',
    tags: ['demo', 'text', 'summary'],
    examples: ['summarize this article', 'give me the key points of a long text'],
    capabilities: [
      {
        name: 'summarize',
        description: 'Picks the most important sentences of a text.',
        safe: true,
        input: { text: 'string', sentences: 'integer?' },
        output: { summary: 'string', kept: 'number' },
        handler({ text, sentences = 2 }) {
          const summary = summarize(text, Math.max(1, sentences)).join(' ')
          return { summary, kept: Number((summary.length / Math.max(1, text.length)).toFixed(2)) }
        },
      },
    ],
  })
