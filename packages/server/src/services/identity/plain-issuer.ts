import type { Store } from '../../store/store.js'
import type { Issuer } from './issuers.js'

const SETTING = 'plain-issuer'

/**
 * The issuer whose subjects are plain names, by the operator's choice or by that of the first start with issuers: then a
 * single issuer gets the plain names, and of several none does. The choice is stored, so that an issuer that is added or
 * replaced later never gets the subjects, and with them the agents, of another.
 */
export async function choosePlainIssuer(store: Store, issuers: readonly Issuer[]): Promise<string | undefined> {
  const [first] = issuers
  if (!first) return undefined
  const chosen = issuers.find(({ subjects }) => subjects === 'plain')
  const only = issuers.length === 1 && first.subjects === undefined ? first.issuer : ''
  const stored = await store.putSetting(SETTING, chosen?.issuer ?? only, chosen === undefined)
  return issuers.find(({ issuer, subjects }) => issuer === stored && subjects !== 'qualified')?.issuer
}
