import type { JsonObject } from '@switchboard/protocol'
import type { DemoServer } from '../demo-agent.js'
import { serve } from '../serve.js'

/** Month and day, or days after Easter Sunday. */
type Rule = readonly [month: number, day: number] | { readonly easter: number }

const RULES: Readonly<Record<string, Readonly<Record<string, Rule>>>> = {
  DE: {
    Neujahr: [1, 1],
    Karfreitag: { easter: -2 },
    Ostermontag: { easter: 1 },
    'Tag der Arbeit': [5, 1],
    'Christi Himmelfahrt': { easter: 39 },
    Pfingstmontag: { easter: 50 },
    'Tag der Deutschen Einheit': [10, 3],
    '1. Weihnachtstag': [12, 25],
    '2. Weihnachtstag': [12, 26],
  },
  FR: {
    'Jour de l’an': [1, 1],
    'Lundi de Pâques': { easter: 1 },
    'Fête du Travail': [5, 1],
    'Victoire 1945': [5, 8],
    Ascension: { easter: 39 },
    'Lundi de Pentecôte': { easter: 50 },
    'Fête nationale': [7, 14],
    Assomption: [8, 15],
    Toussaint: [11, 1],
    'Armistice 1918': [11, 11],
    Noël: [12, 25],
  },
  PT: {
    'Ano Novo': [1, 1],
    'Sexta-feira Santa': { easter: -2 },
    Páscoa: { easter: 0 },
    'Dia da Liberdade': [4, 25],
    'Dia do Trabalhador': [5, 1],
    'Corpo de Deus': { easter: 60 },
    'Dia de Portugal': [6, 10],
    Assunção: [8, 15],
    'Implantação da República': [10, 5],
    'Todos os Santos': [11, 1],
    'Restauração da Independência': [12, 1],
    'Imaculada Conceição': [12, 8],
    Natal: [12, 25],
  },
}

/** Easter Sunday by the anonymous Gregorian algorithm, as [month, day]. */
function easterOf(year: number): [number, number] {
  const [a, b, c] = [year % 19, Math.floor(year / 100), year % 100]
  const d = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30
  const e = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - d - (c % 4)) % 7
  const f = d + e - 7 * Math.floor((a + 11 * d + 22 * e) / 451) + 114
  return [Math.floor(f / 31), (f % 31) + 1]
}

function dateOf(rule: Rule, year: number): string {
  const [month, day] = 'easter' in rule ? easterOf(year) : rule
  const date = new Date(Date.UTC(year, month - 1, day + ('easter' in rule ? rule.easter : 0)))
  return date.toISOString().slice(0, 10)
}

const toOpenApi = (url: string): JsonObject => ({
  openapi: '3.1.0',
  info: {
    title: 'Public holidays',
    description: 'Lists the public holidays of Germany, France and Portugal in any year.',
    version: '1.0.0',
  },
  servers: [{ url }],
  tags: [{ name: 'demo' }, { name: 'calendar' }, { name: 'holidays' }],
  paths: {
    '/holidays/{country}': {
      get: {
        operationId: 'listHolidays',
        summary: 'The public holidays of a country in a year, by date',
        parameters: [
          { name: 'country', in: 'path', required: true, schema: { enum: Object.keys(RULES) } },
          { name: 'year', in: 'query', schema: { type: 'integer', minimum: 1900, maximum: 2200 } },
        ],
        responses: {
          200: {
            description: 'the holidays',
            content: {
              'application/json': {
                schema: {
                  type: 'array',
                  items: { type: 'object', properties: { date: { type: 'string' }, name: { type: 'string' } } },
                },
              },
            },
          },
        },
      },
    },
  },
})

function respond(request: Request): Response {
  const { pathname, searchParams } = new URL(request.url)
  const rules = RULES[/^\/holidays\/([A-Z]{2})$/.exec(pathname)?.[1] ?? '']
  if (!rules) return Response.json({ error: { message: 'unknown country: use DE, FR or PT' } }, { status: 404 })
  const year = Number(searchParams.get('year') ?? new Date().getFullYear())
  const days = Object.entries(rules).map(([name, rule]) => ({ date: dateOf(rule, year), name }))
  return Response.json(days.sort((a, b) => a.date.localeCompare(b.date)))
}

/** An ordinary REST API, which knows nothing of agents: its OpenAPI document is all that the directory needs. */
export async function startHolidays(): Promise<DemoServer> {
  const { url, close } = await serve(respond)
  return { format: 'aidip', document: toOpenApi(url), close }
}
