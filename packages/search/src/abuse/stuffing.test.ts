import { describe, expect, it } from 'vitest'
import { plainText, readTokens } from './plain-text.js'
import { findKeywordStuffing } from './stuffing.js'

const stuffingOf = (text: string, place?: 'prose' | 'schema'): string | undefined =>
  findKeywordStuffing(readTokens(plainText(text)), place)

const TOPICS =
  `weather finance stocks travel flights hotels recipes translation music movies sports news health fitness legal
  tax insurance education physics chemistry coding devops cloud security email calendar sales marketing design photo video
  audio podcast gaming shopping fashion beauty cars maps delivery restaurants wine coffee pets gardening dating astrology
  history politics patents research biology medicine nutrition yoga`
    .split(/\s+/)
    .slice(0, 52)

describe('findKeywordStuffing', () => {
  it.each([
    ['one word', 'translate '.repeat(20), 'repeats one word many times'],
    [
      'one word in sentences',
      'Our hotel agent is the hotel you need for a hotel and any hotel. '.repeat(4),
      'repeats one word many times',
    ],
    ['one passage', 'Cheap flights, great fares, every airline, all cities. '.repeat(12), 'repeats the same few words'],
    [
      'forms of a word',
      'translate translator, hotel hotels, flight flights, translation hotel, flight translate, hotels translator, flights hotel, translate flight, hotel translation',
      'is a long list of keywords without sentences',
    ],
    ['a list of popular topics', `Plans trips. ${TOPICS.join(', ')}`, 'is a long list of keywords without sentences'],
    ['a list in Chinese', '免费翻译、在线翻译、智能翻译、'.repeat(10), 'repeats one word many times'],
  ])('finds a text stuffed with %s', (_what, text, message) => {
    expect(stuffingOf(text)).toBe(message)
  })

  it.each([
    'Translates legal contracts from German to English. Keeps the layout, and translates footnotes too.',
    'Supports Gmail, Slack, Notion, Linear, Jira, GitHub, GitLab, Bitbucket, Trello, Asana, Airtable, Zapier and Make.',
    '한국어 문서를 영어로 번역하고 레이아웃을 유지합니다. 계약서와 각주도 번역하며 결과를 PDF로 저장합니다.',
    '将法律合同从德语翻译成英语，保留版式，并翻译脚注、表格和附件。',
    'Creates a line chart, a bar chart, a pie chart or a radar chart from your data.',
    'buffalo buffalo buffalo',
  ])('accepts ordinary text: %s', (text) => {
    expect(stuffingOf(text)).toBeUndefined()
  })

  it('allows a schema to list values, but not without limit', () => {
    const values = 'One of: class_1, class_2, class_3, class_4, class_5, class_6, class_7, class_8, class_9, class_10'
    expect(stuffingOf(values, 'schema')).toBeUndefined()
    expect(stuffingOf('cheap hotel '.repeat(60), 'schema')).toBeDefined()
  })
})
