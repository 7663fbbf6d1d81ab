/** Stands for every capability of an agent, those to come too. */
export const EVERYTHING = '*'

/** What pages of one origin want, or may do: call one capability of one agent. */
export interface Right {
  /** As browsers send it: `https://page.example`. */
  readonly origin: string
  readonly agent: string
  /** One capability, or `*` for all. */
  readonly capability: string
}

/** A right that the person of this computer has given. */
export interface Consent extends Right {
  /** RFC 3339. */
  readonly allowedAt: string
}

/** Some of a right's members, to find all that have them. */
export type RightFilter = Partial<Right>

export const matches = (right: Right, { origin, agent, capability }: RightFilter): boolean =>
  (origin === undefined || right.origin === origin) &&
  (agent === undefined || right.agent === agent) &&
  (capability === undefined || right.capability === capability)

/** Whether a consent is enough for what is wanted. */
export const covers = (consent: Right, { origin, agent, capability }: Right): boolean =>
  consent.origin === origin &&
  consent.agent === agent &&
  (consent.capability === EVERYTHING || consent.capability === capability)
