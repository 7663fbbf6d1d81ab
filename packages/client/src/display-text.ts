/** Makes untrusted text safe to show: removes control characters and direction marks (AD §8.5). */
export const toDisplayText = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]+/gu, ' ').trim()
