import type { Call, Transport } from './call.js'

/** A call as another transport is to send it. */
export interface RoutedCall {
  readonly transport: Transport
  readonly call: Call
}

/** A transport that chooses another transport for each call. */
export const createRoutingTransport = (route: (call: Call) => Promise<RoutedCall>): Transport => ({
  async invoke(original) {
    const { transport, call } = await route(original)
    return transport.invoke(call)
  },
  async *stream(original) {
    const { transport, call } = await route(original)
    yield* transport.stream(call)
  },
})
