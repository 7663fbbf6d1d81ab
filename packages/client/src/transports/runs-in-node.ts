/** Whether this is Node, which has Unix sockets and files, and `ws` for WebSockets with headers. */
export const runsInNode = (): boolean => typeof globalThis.process?.versions?.node === 'string'
