/**
 * To what a keyword applies its subschemas: `branch` to the same value again; `below` to parts of the value that no
 * other keyword looks at; `beside` to parts that another keyword may look at too; `never`: only a reference does.
 */
export type Application = 'branch' | 'below' | 'beside' | 'never'

export interface Applicator {
  readonly form: 'schema' | 'list' | 'map'
  readonly applies: Application
}

const applicator = (form: Applicator['form'], applies: Application): Applicator => ({ form, applies })

/** Keywords of JSON Schema 2020-12 that hold subschemas, and those of older drafts that Ajv still reads. */
export const APPLICATORS: ReadonlyMap<string, Applicator> = new Map([
  ['allOf', applicator('list', 'branch')],
  ['anyOf', applicator('list', 'branch')],
  ['oneOf', applicator('list', 'branch')],
  ['not', applicator('schema', 'branch')],
  ['if', applicator('schema', 'branch')],
  ['then', applicator('schema', 'branch')],
  ['else', applicator('schema', 'branch')],
  ['dependentSchemas', applicator('map', 'branch')],
  ['dependencies', applicator('map', 'branch')],
  ['properties', applicator('map', 'below')],
  ['additionalProperties', applicator('schema', 'below')],
  ['propertyNames', applicator('schema', 'below')],
  ['prefixItems', applicator('list', 'below')],
  ['items', applicator('schema', 'below')],
  ['patternProperties', applicator('map', 'beside')],
  ['unevaluatedProperties', applicator('schema', 'beside')],
  ['unevaluatedItems', applicator('schema', 'beside')],
  ['contains', applicator('schema', 'beside')],
  ['$defs', applicator('map', 'never')],
  ['definitions', applicator('map', 'never')],
])

/** Keywords that say something of a value themselves. Whatever is in neither table has no meaning to a validator. */
export const ASSERTIONS: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', 'required', 'dependentRequired'],
  ...['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...['maxLength', 'minLength', 'pattern', 'format'],
  ...['maxItems', 'minItems', 'uniqueItems', 'maxContains', 'minContains', 'maxProperties', 'minProperties'],
])
