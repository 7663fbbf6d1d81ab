import { Ajv2020, type Format } from 'ajv/dist/2020.js'
import { fastFormats } from 'ajv-formats/dist/formats.js'
import { isObject, type JsonValue } from './json.js'
import { compileLinearPattern } from './linear-pattern.js'
import type { WorkBudget } from './work-budget.js'

const KNOWN_FORMATS: Record<string, Format> = {
  ...fastFormats,
  // The expression in the library takes quadratic time.
  url: (text: string) => /^(https?|ftp):\/\//i.test(text) && URL.canParse(text),
}

/** Formats that are checked; others say nothing, as JSON Schema has it. */
export const FORMATS: ReadonlySet<string> = new Set(Object.keys(KNOWN_FORMATS))

/**
 * A compiler for one schema out of `closeSchema`, so that nothing of one schema is left for the next. What it makes
 * counts its work in `budget`.
 */
export function createSchemaCompiler(budget: WorkBudget): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    // A member named `constructor` or `toString` is there only if the value has it.
    ownProperties: true,
    // Inlined references would multiply code; calls keep it as long as the schema.
    inlineRefs: false,
    // The schema has been looked at before, and asks for no meta-schema.
    validateSchema: false,
    meta: false,
    formats: KNOWN_FORMATS,
    code: { regExp: createLinearRegExp(budget) },
  })
  ajv.addKeyword(budget.keyword)
  // Ajv compares every pair; a set of canonical texts is linear.
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (wanted: boolean, items: JsonValue[]) => !wanted || areUnique(items, budget),
    error: { message: 'must not have the same item twice' },
  })
  return ajv
}

function createLinearRegExp(budget: WorkBudget) {
  const create = (pattern: string) => {
    const compiled = compileLinearPattern(pattern)
    if (compiled === undefined) throw new Error(`not a pattern of linear time: ${pattern}`)
    return {
      test: (text: string) => {
        budget.spend(text.length * compiled.size)
        return compiled.test(text)
      },
      // Ajv tells patterns apart by this.
      toString: () => pattern,
    }
  }
  return Object.assign(create, { code: 'createLinearRegExp' })
}

function areUnique(items: JsonValue[], budget: WorkBudget): boolean {
  const seen = new Set<string>()
  for (const item of items) {
    const text = canonical(item)
    budget.spend(text.length)
    if (seen.has(text)) return false
    seen.add(text)
  }
  return true
}

/** One text for equal values, whatever the order of their members. */
function canonical(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  return `{${Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`)
    .join()}}`
}
