export { assertValid, compileSchema } from './compile-schema.js'
export {
  checkPublisherSchema,
  createPublisherSchemas,
  createSchemaAllowance,
  type PublisherSchemas,
  type SchemaAllowance,
} from './publisher-schema.js'
export { isSimpleMap, isTypeWord, TYPE_WORDS, toJsonSchema } from './simple-map.js'
