import { isObject, type JsonObject } from '../../json.js'

/** Whether a document is an OpenAPI description of version 3. */
export const isOpenApi = (document: JsonObject): boolean =>
  typeof document.openapi === 'string' && document.openapi.startsWith('3.') && isObject(document.paths)
