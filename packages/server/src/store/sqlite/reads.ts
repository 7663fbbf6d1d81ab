/** Runs a read, which is synchronous; what it throws becomes the rejection of a promise, with a code. */
export type Reads = <T>(get: () => T) => Promise<T>
