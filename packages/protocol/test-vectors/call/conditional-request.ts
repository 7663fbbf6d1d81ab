/** The current state of the requested document. */
export const CURRENT_TAG = '"v2"'
export const CHANGED_AT = Date.parse('2026-01-01T12:00:00.500Z')

export interface ConditionalRequestVector {
  readonly ifNoneMatch?: string
  readonly ifModifiedSince?: string
  readonly isNotModified: boolean
}

export const CONDITIONAL_REQUEST_VECTORS: readonly ConditionalRequestVector[] = [
  { isNotModified: false },
  { ifNoneMatch: '"v2"', isNotModified: true },
  { ifNoneMatch: 'W/"v2"', isNotModified: true },
  { ifNoneMatch: '"v1", "v2"', isNotModified: true },
  { ifNoneMatch: '"v1" ,W/"v2"', isNotModified: true },
  { ifNoneMatch: '*', isNotModified: true },
  { ifNoneMatch: '"v1"', isNotModified: false },
  { ifNoneMatch: '', isNotModified: false },
  { ifModifiedSince: 'Thu, 01 Jan 2026 12:00:00 GMT', isNotModified: true },
  { ifModifiedSince: 'Thu, 01 Jan 2026 13:00:00 GMT', isNotModified: true },
  { ifModifiedSince: 'Thu, 01 Jan 2026 11:59:59 GMT', isNotModified: false },
  { ifModifiedSince: 'yesterday', isNotModified: false },
  { ifNoneMatch: '"v1"', ifModifiedSince: 'Thu, 01 Jan 2026 13:00:00 GMT', isNotModified: false },
  { ifNoneMatch: '"v2"', ifModifiedSince: 'Thu, 01 Jan 2026 11:59:59 GMT', isNotModified: true },
]
