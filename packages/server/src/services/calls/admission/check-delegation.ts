import { checkOrder, DirectoryError, readHop, SigningError, splitChain } from '@switchboard/protocol'

/**
 * Refuses a chain of delegation that is too long, goes in a circle or is none (C-65). Its signatures are left to the
 * agent, for whom the last hop is meant and who knows whose word counts.
 */
export async function checkDelegation(chain: string): Promise<void> {
  try {
    checkOrder(splitChain(chain).map(readHop))
  } catch (error) {
    if (!(error instanceof SigningError)) throw error
    throw new DirectoryError('forbidden', `X-Delegation-Chain is not accepted: ${error.message}`, { cause: error })
  }
}
