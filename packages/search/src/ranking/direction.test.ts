import { readRecord } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { createDirectionFit } from './direction.js'

const agent = (description: string, operations: string[] = []) =>
  readRecord(
    'aidip',
    {
      name: 'Agent',
      description,
      tags: [],
      capabilities: [],
      endpoint: 'https://a.example/',
      operations: operations.map((name) => ({ name, inputs: {}, outputs: {} })),
    },
    'a',
  )
const fit = (text: string, description: string, operations?: string[]): number | undefined =>
  createDirectionFit({ text, language: 'en' })?.(agent(description, operations))

describe('createDirectionFit', () => {
  it('is 1 for an agent that converts in the direction of the request, however either is worded', () => {
    for (const text of ['convert PDF to Word', 'pdf to word', 'Please turn my PDFs into Word.', 'from PDF to Word'])
      for (const description of [
        'Converts PDFs to Word.',
        'Word documents from PDF files.',
        'PDF → Word',
        'Convert between Word, PDF and HTML.',
        'Converts PDF files to and from Word.',
      ])
        expect(fit(text, description), `${text}: ${description}`).toBe(1)
  })

  it('is −1 for one that only converts in the opposite direction', () => {
    expect(fit('speech to text', 'Text-to-speech with many voices.')).toBe(-1)
    expect(fit('speech to text', 'Text-to-speech and speech-to-text.')).toBe(1)
    expect(fit('extract tables from a PDF', 'Makes a PDF from tables.')).toBe(-1)
  })

  it('reads names of operations', () => {
    for (const name of ['pdf_to_word', 'pdfToWord', 'pdf2word', 'convert-pdf-to-word'])
      expect(fit('convert PDF to Word', 'Office tools.', [name]), name).toBe(1)
  })

  it('counts as much as the agent says of source and target, within one sentence', () => {
    const need = 'turn a PDF invoice into a spreadsheet'
    expect(fit(need, 'Reads invoices from PDFs to spreadsheets.')).toBe(1)
    expect(fit(need, 'Converts PDFs to spreadsheets.')).toBe(0.5)
    expect(fit(need, 'Generates a PDF invoice from a template.')).toBe(0)
    expect(fit(need, 'Sends invoices to customers. Edits a spreadsheet.')).toBe(0)
  })

  it('sees no conversion in a purpose, a place or another language', () => {
    for (const text of [
      'I am planning a long trip with my family and want to go to Rome in spring',
      'track a parcel',
      'tell me how to cook',
    ])
      expect(createDirectionFit({ text, language: 'en' }), text).toBeUndefined()
    expect(createDirectionFit({ text: 'de PDF to Word', language: 'fr' })).toBeUndefined()
  })
})
