import { readRecord } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { createAgentIndex } from '../agent-index.js'
import { readQuery } from '../ranking/read-query.js'
import type { IndexedAgent } from '../select-agents.js'
import { glossRecord } from './gloss-record.js'
import { openLexicon } from './lexicon.js'

const record = (name: string, description: string) =>
  readRecord(
    'aidip',
    { name, description, tags: [], capabilities: [], operations: [], endpoint: 'https://a.example/' },
    name,
  )
const gloss = (description: string) => glossRecord(record('x', description), openLexicon())

describe('glossRecord', () => {
  it('says in English what a record in another language says', () => {
    expect(gloss('将合同翻译成英文')).toMatchObject({ language: 'zh' })
    expect(gloss('将合同翻译成英文')?.english('翻译合同')).toBe('translation contract')
    expect(gloss('Übersetzt Verträge und fasst sie für die Kunden zusammen')).toMatchObject({ language: 'de' })
  })

  it.each([
    'Translates contracts into plain language',
    'SQL, REST, JSON',
    'Bank — via API, e-mail or a chat',
    'ใช้แปลสัญญา',
  ])('leaves %j as it is', (description) => {
    expect(gloss(description)).toBeUndefined()
  })
})

describe('an index of agents in several languages', () => {
  const index = createAgentIndex<IndexedAgent>()
  const agents = [
    record('数据库', 'SQL 数据库查询助手'),
    record('Databases', 'SQL database query assistant'),
    record('天气', '提供天气预报'),
  ]
  for (const [number, each] of agents.entries()) index.put({ number, status: 'active', record: each })
  const find = async (text: string): Promise<string[]> => {
    const selection = { conditions: [], view: (agent: IndexedAgent) => agent.record }
    const { ranked } = await index.search({ query: readQuery(text), vectors: [] }, selection, { skip: 0, take: 10 })
    return ranked.map(({ agent }) => agent.record.name)
  }

  it('finds an agent in Chinese for a query in English or German', async () => {
    expect(await find('a weather forecast')).toEqual(['天气'])
    expect(await find('die Wettervorhersage')).toEqual(['天气'])
  })

  it('puts agents in the language of the query first', async () => {
    expect((await find('sql'))[0]).toBe('Databases')
    expect((await find('查询 SQL 数据库'))[0]).toBe('数据库')
  })
})
