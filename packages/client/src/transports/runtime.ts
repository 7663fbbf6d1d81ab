/** Whether this is Node: there are sockets and files, and `ws` for WebSockets with headers. */
export const runsInNode = (): boolean => typeof globalThis.process?.versions?.node === 'string'
