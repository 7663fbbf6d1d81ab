/** Ids that a client may choose for its request (C-74). */
export const REQUEST_IDS: readonly string[] = [
  'a',
  'req-1',
  '4f0c2a5e-1b7e-4a7a-9a57-0d7e9f6d9a11',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'a.b:c_d',
  'x'.repeat(128),
]

/** Values that are replaced by a new id. */
export const NOT_REQUEST_IDS: readonly string[] = [
  '',
  ' ',
  'a b',
  'x'.repeat(129),
  'a/b',
  'a@b',
  'a+b',
  'a=',
  '<b>',
  'a,b',
  'ü',
  '"x"',
  '%{x}',
]
