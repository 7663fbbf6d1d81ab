import { expect, it } from 'vitest'
import { inputOfMessage, skillOfMessage, toMessagePart } from './a2a-message.js'

const text = (value: string) => ({ parts: [{ text: value }] })

it('finds the skill in the metadata of a message', () => {
  expect(skillOfMessage({ metadata: { skillId: 'a', skill: 'b' } })).toBe('a')
  expect(skillOfMessage({ metadata: { operation: 'c' } })).toBe('c')
  expect(skillOfMessage({})).toBeUndefined()
})

it.each([
  ['the data part', { parts: [{ text: 'x' }, { data: [1] }] }, {}, [1]],
  ['text as it is', text('hi'), { type: 'string' }, 'hi'],
  ['text that is an object', text(' {"a":1}'), {}, { a: 1 }],
  [
    'text in the only required member',
    text('hi'),
    { properties: { q: { type: 'string' } }, required: ['q'] },
    { q: 'hi' },
  ],
  ['text in a member with a usual name', text('hi'), { properties: { prompt: { type: 'string' } } }, { prompt: 'hi' }],
  ['text in `text` if nothing is known', { parts: [{ text: 'a' }, { text: 'b' }] }, {}, { text: 'a\nb' }],
])('takes %s as the input', (_, message, schema, input) => {
  expect(inputOfMessage(message, schema)).toEqual(input)
})

it('finds no input in files', () => expect(inputOfMessage({ parts: [{ raw: 'AA==' }] }, {})).toBeUndefined())

it('writes values as parts', () => {
  expect([toMessagePart('a'), toMessagePart(1)]).toEqual([{ text: 'a' }, { data: 1, mediaType: 'application/json' }])
})
