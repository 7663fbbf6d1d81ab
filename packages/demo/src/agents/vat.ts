import { type Agent, createAgent } from '@switchboard/agent'

/** Percent: the normal and the reduced rate. */
const RATES = {
  DE: { normal: 19, reduced: 7 },
  AT: { normal: 20, reduced: 10 },
  CH: { normal: 8.1, reduced: 2.6 },
} as const

const COUNTRIES = ['DE', 'AT', 'CH'] as const

const round = (amount: number): number => Math.round(amount * 100) / 100

/** Described in German only; people who search in English find it all the same. */
export const createVat = (): Agent =>
  createAgent({
    id: 'demo-mehrwertsteuer',
    name: 'Mehrwertsteuer-Rechner',
    version: '1.0.0',
    description:
      'Berechnet die Mehrwertsteuer: den Bruttopreis aus dem Nettopreis und umgekehrt, für Deutschland, Österreich und die Schweiz.',
    tags: ['demo', 'steuer', 'rechnung', 'finanzen'],
    languages: ['de'],
    examples: ['Wie viel Mehrwertsteuer steckt in 119 Euro?', 'Bruttopreis für eine Rechnung ausrechnen'],
    capabilities: [
      {
        name: 'berechnen',
        description: 'Rechnet netto in brutto um, oder brutto in netto.',
        safe: true,
        isDeterministic: true,
        input: {
          type: 'object',
          properties: {
            betrag: { type: 'number', minimum: 0 },
            art: { enum: ['netto', 'brutto'], description: 'was der Betrag ist; sonst netto' },
            land: { enum: COUNTRIES, description: 'sonst DE' },
            ermaessigt: { type: 'boolean', description: 'ermäßigter Steuersatz' },
          },
          required: ['betrag'],
        },
        output: { netto: 'number', steuer: 'number', brutto: 'number', prozent: 'number' },
        handler({ betrag, art = 'netto', land = 'DE', ermaessigt = false }) {
          const prozent = RATES[land][ermaessigt ? 'reduced' : 'normal']
          const netto = art === 'netto' ? betrag : betrag / (1 + prozent / 100)
          const steuer = (netto * prozent) / 100
          return { netto: round(netto), steuer: round(steuer), brutto: round(netto + steuer), prozent }
        },
      },
    ],
  })
