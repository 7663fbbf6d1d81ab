import { readRecord } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { textFieldsOf } from './text-fields.js'

describe('textFieldsOf', () => {
  it('collects the texts of a record by field, without duplicates', () => {
    const record = readRecord(
      'aidip',
      {
        name: 'Translator',
        description: 'Translates text',
        tags: ['language', 'translate'],
        capabilities: ['translate'],
        endpoint: 'https://a.example/',
        operations: [
          {
            name: 'translate',
            description: 'Translates text',
            inputs: {
              type: 'object',
              properties: { sourceText: { type: 'string', description: 'What to translate' } },
            },
            outputs: { result: 'string' },
          },
        ],
        examples: [{ text: 'Bonjour in English' }],
      },
      'translator',
    )
    expect(textFieldsOf(record)).toEqual({
      title: ['Translator', 'language', 'translate'],
      description: ['Translates text'],
      schema: ['sourceText', 'What to translate', 'result'],
      example: ['Bonjour in English'],
      gloss: [],
    })
  })
})
