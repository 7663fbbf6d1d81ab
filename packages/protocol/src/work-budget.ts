import type { CodeKeywordDefinition, KeywordCxt } from 'ajv/dist/2020.js'
import { _ } from 'ajv/dist/2020.js'
import { isObject, type JsonValue } from './json.js'

/** Keyword that `closeSchema` writes into each subschema: what visiting it costs. */
export const WORK = 'x-work'

/** Steps: for each visit, for each item or member of the value, for each character of a text. */
export type Work = [visit: number, child: number, character: number]

/** Thrown inside a validator that has used up its budget. */
export class WorkExceeded extends Error {}

/**
 * Steps that checking one value may take. Both the schema and the value can come from the same attacker, and what is
 * known of a schema in advance is no bound on what it does to a value (recursion inside recursion, a thousand patterns
 * on each of a thousand items), so the validator counts while it works.
 */
export interface WorkBudget {
  restart(): void
  spend(steps: number): void
  /** Makes Ajv write a call of `spend` in front of all other keywords of a subschema. */
  readonly keyword: CodeKeywordDefinition
}

export function createWorkBudget(limit: number): WorkBudget {
  let left = limit
  const spend = (steps: number): void => {
    left -= steps
    if (left < 0) throw new WorkExceeded()
  }
  const visit = (value: JsonValue, perVisit: number, perChild: number, perCharacter: number): void => {
    spend(perVisit + perChild * (perChild > 0 ? childrenOf(value) : 0) + (typeof value === 'string' ? perCharacter * value.length : 0))
  }
  return {
    restart: () => {
      left = limit
    },
    spend,
    keyword: {
      keyword: WORK,
      schemaType: 'array',
      before: '$ref',
      code({ gen, data, schema }: KeywordCxt) {
        const [perVisit, perChild, perCharacter]: Work = schema
        gen.code(_`${gen.scopeValue('func', { ref: visit })}(${data}, ${perVisit}, ${perChild}, ${perCharacter})`)
      },
    },
  }
}

function childrenOf(value: JsonValue): number {
  if (Array.isArray(value)) return value.length
  return isObject(value) ? Object.keys(value).length : 0
}
