// Reads the data sets: agents as records, queries and their relevant agents.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRecord } from '../../packages/protocol/dist/index.js'

export const SETS = ['toole-single', 'stabletoolbench', 'lobe-mixed']

const lines = (file) => readFileSync(file, 'utf8').trim().split('\n')

/** Agents, and queries with the positions of their relevant agents. */
export function readSet(data, name, { examples = false } = {}) {
  const withExamples = join(data, name, 'agents.with_examples.jsonl')
  const file = examples && existsSync(withExamples) ? withExamples : join(data, name, 'agents.jsonl')
  const agents = lines(file).map((line) => toRecord(JSON.parse(line)))
  const positions = new Map(agents.map(({ id }, position) => [id, position]))
  const relevant = new Map()
  for (const line of lines(join(data, name, 'qrels.tsv'))) {
    const [query, agent] = line.split('\t')
    relevant.set(query, (relevant.get(query) ?? new Set()).add(positions.get(agent)))
  }
  const queries = lines(join(data, name, 'queries.jsonl'))
    .map((line) => JSON.parse(line))
    .flatMap(({ qid, query }) => (relevant.has(qid) ? [{ id: qid, text: query, relevant: relevant.get(qid) }] : []))
  return { name, agents, queries }
}

/** Unlabelled records as distractors, in two lists: lobe-mixed consists of those in the second. */
export function readDistractors(data, name) {
  const all = lines(join(data, 'load', 'agents.jsonl')).map((line) => JSON.parse(line))
  const isLobe = ({ source }) => source === 'lobe-chat-agents'
  const lists = [all.filter((each) => !isLobe(each)), ...(name === 'lobe-mixed' ? [] : [all.filter(isLobe)])]
  return lists.map((list) => list.map(toRecord))
}

function toRecord({ id, name, description, tags, examples, operations, languages }) {
  const document = {
    name,
    description,
    tags,
    capabilities: [],
    endpoint: 'https://agent.example/',
    examples,
    operations: operations.map((operation) => ({
      name: operation.name,
      description: operation.description,
      inputs: operation.inputSchema ?? {},
      outputs: operation.outputSchema ?? {},
    })),
    ...(languages && { supported_languages: languages }),
  }
  return readRecord('aidip', document, id)
}
