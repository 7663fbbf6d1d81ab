import type { JsonObject } from '../json.js'

/**
 * To what a keyword applies its subschemas: `branch` to the same value again; `below` to parts of the value that no
 * other keyword looks at; `beside` to parts that another keyword may look at too; `never`: only a reference does.
 */
export type Application = 'branch' | 'below' | 'beside' | 'never'

/** Keywords of JSON Schema that hold subschemas: 2020-12, and what older drafts call `dependencies` and tuples. */
export const APPLICATORS: ReadonlyMap<string, Application> = new Map([
  ['allOf', 'branch'],
  ['anyOf', 'branch'],
  ['oneOf', 'branch'],
  ['not', 'branch'],
  ['if', 'branch'],
  ['then', 'branch'],
  ['else', 'branch'],
  ['dependentSchemas', 'branch'],
  ['dependencies', 'branch'],
  ['properties', 'below'],
  ['additionalProperties', 'below'],
  ['propertyNames', 'below'],
  ['prefixItems', 'below'],
  ['items', 'below'],
  ['additionalItems', 'below'],
  ['patternProperties', 'beside'],
  ['unevaluatedProperties', 'beside'],
  ['unevaluatedItems', 'beside'],
  ['contains', 'beside'],
  ['$defs', 'never'],
  ['definitions', 'never'],
])

/** Keywords whose value is a map of names to subschemas; all others hold one subschema, or a list. */
export const NAMED: ReadonlySet<string> = new Set([
  'dependentSchemas',
  'dependencies',
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
])

/** Whether `$schema` names draft-07 or an older one; without `$schema`, a schema is read as 2020-12. */
export const isDraft7 = ({ $schema }: JsonObject): boolean =>
  typeof $schema === 'string' && /draft-0[3-7]/.test($schema)
