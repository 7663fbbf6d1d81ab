/** Ways of cheating in a document, or with many of them. */
export type AbuseCode =
  | 'tag_stuffing'
  | 'keyword_stuffing'
  | 'example_stuffing'
  | 'instructions'
  | 'hidden_characters'
  | 'near_duplicates'

/** One thing that looks like cheating, in words that operators and publishers are shown. */
export interface AbuseFinding {
  readonly code: AbuseCode
  /** JSON pointer into the document; empty if it is about the document as a whole. */
  readonly member: string
  /** Never repeats the text: whoever reads the warning may be a model, too. */
  readonly message: string
}

/** What is left of the score. Stuffing may be clumsiness; text that is aimed at machines or hidden from people is not. */
const FACTOR: Readonly<Record<AbuseCode, number>> = {
  tag_stuffing: 0.5,
  keyword_stuffing: 0.5,
  example_stuffing: 0.7,
  instructions: 0.3,
  hidden_characters: 0.5,
  near_duplicates: 0.7,
}

/** What to multiply the score with, 0 to 1: 1 if nothing was found. Each kind counts once, however often it occurs. */
export function abuseFactor(findings: readonly AbuseFinding[]): number {
  let factor = 1
  for (const code of new Set(findings.map((finding) => finding.code))) factor *= FACTOR[code]
  return factor
}
