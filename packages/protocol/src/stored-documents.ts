/** What a store needs of documents, apart from the rest of this package, which would triple the time that a thread for writing takes to start. */
export { keepText, textOf } from './documents/original-text.js'
export { DOCUMENT_FORMATS, type DocumentFormat } from './documents/record.js'
