/** Kinds of abuse that lower the score. */
export type AbuseCode =
  | 'tag_stuffing'
  | 'keyword_stuffing'
  | 'example_stuffing'
  | 'instructions'
  | 'hidden_characters'
  | 'near_duplicates'

/** One suspected abuse, as shown to operators and publishers. */
export interface AbuseFinding {
  readonly code: AbuseCode
  /** JSON pointer into the document; empty for the document as a whole. */
  readonly member: string
  /** Completes the sentence "The member …". Never quotes the text, because language models read findings too. */
  readonly message: string
}

/** Score factors. Stuffing may be clumsiness; text that targets models or is hidden from people is deliberate. */
const FACTOR: Readonly<Record<AbuseCode, number>> = {
  tag_stuffing: 0.5,
  keyword_stuffing: 0.5,
  example_stuffing: 0.7,
  instructions: 0.3,
  hidden_characters: 0.5,
  near_duplicates: 0.7,
}

/** The score factor for a list of findings, 0 to 1. Each kind counts once; an empty list gives 1. */
export function abuseFactor(findings: readonly AbuseFinding[]): number {
  let factor = 1
  for (const code of new Set(findings.map((finding) => finding.code))) factor *= FACTOR[code]
  return factor
}
