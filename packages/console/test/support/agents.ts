import type { JsonObject } from '@switchboard/protocol'

const ANY = { type: 'object' }

const agent = (id: string, name: string, description: string, more: JsonObject): JsonObject => ({
  id,
  name,
  description,
  version: '1.0.0',
  endpoint: `https://agents.example/${id}`,
  inputs: ANY,
  outputs: ANY,
  ...more,
})

const operation = (name: string, description: string): JsonObject => ({ name, description, inputs: ANY, outputs: ANY })

/** A few agents that differ in everything that can be searched, filtered and shown. */
export const AGENTS: readonly JsonObject[] = [
  agent(
    'contract-translator',
    'Contract Translator',
    'Translates contracts and other legal documents. Keeps their clauses.',
    {
      capabilities: ['translation'],
      tags: ['legal', 'documents'],
      supported_languages: ['en', 'de', 'zh'],
      publisher: 'Lingua',
      operations: [
        operation('translate', 'Translates a text into another language.'),
        operation('glossary', 'Lists the terms of a document.'),
      ],
    },
  ),
  agent('summariser', 'Summariser', 'Summarises contracts, reports and e-mails in a few sentences.', {
    capabilities: ['summarization'],
    tags: ['documents', 'text'],
    publisher: 'Words',
    operations: [operation('summarise', 'Condenses a long document to its main points.')],
  }),
  agent('invoice-reader', 'Invoice Reader', 'Extracts amounts, dates and suppliers from scanned invoices.', {
    capabilities: ['extraction'],
    tags: ['finance', 'documents'],
    publisher: 'Books',
    status: 'testing',
  }),
  agent('meteo', 'Météo', 'Prévisions pour toutes les villes de France.', {
    capabilities: ['forecast'],
    tags: ['weather'],
    supported_languages: ['fr'],
    publisher: 'Ciel',
  }),
  agent('hetong', '合同翻译', '把合同翻译成英文。支持法律术语。', {
    capabilities: ['translation'],
    tags: ['legal'],
    supported_languages: ['zh', 'en'],
    publisher: 'Lingua',
  }),
  agent('tickets', 'Support Tickets', 'Sorts and answers support tickets.', {
    capabilities: ['triage', 'reply'],
    tags: ['support'],
    publisher: 'Desk',
    protocols: ['mcp'],
  }),
]
