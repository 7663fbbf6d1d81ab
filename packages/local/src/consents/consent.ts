/** Stands for every capability of an agent, including later ones. */
export const ALL_CAPABILITIES = '*'

/** What a consent grants, or a page requests: to call one capability of one agent from one origin. */
export interface Permission {
  /** As browsers send it: `https://page.example`. */
  readonly origin: string
  readonly agent: string
  /** One capability, or `*` for all. */
  readonly capability: string
}

/** A permission that the user has granted. */
export interface Consent extends Permission {
  /** RFC 3339. */
  readonly allowedAt: string
}

/** Selects the permissions that have all the given members. */
export type PermissionFilter = Partial<Permission>

/** Whether a permission has all members of the filter. */
export const matches = (permission: Permission, { origin, agent, capability }: PermissionFilter): boolean =>
  (origin === undefined || permission.origin === origin) &&
  (agent === undefined || permission.agent === agent) &&
  (capability === undefined || permission.capability === capability)

/** Whether a consent grants the requested permission. */
export const covers = (consent: Permission, { origin, agent, capability }: Permission): boolean =>
  consent.origin === origin &&
  consent.agent === agent &&
  (consent.capability === ALL_CAPABILITIES || consent.capability === capability)
