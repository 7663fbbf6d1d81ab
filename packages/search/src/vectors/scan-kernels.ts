import { SCAN_WASM } from './scan-wasm.js'

/** The compiled inner loops, documented in scripts/build-wasm/scan.ts. Addresses are byte offsets in the memory. */
export interface ScanKernels {
  measure(bits: number, rows: number, bytesPerRow: number, query: number, distances: number, histogram: number): void
  collect(distances: number, rows: number, limit: number, firstRow: number, found: number): number
  score(addresses: number, rows: number, dimensions: number, query: number, queryScale: number, scores: number): void
}

/** The memory of a WebAssembly instance. */
export interface ScanMemory {
  /** Replaced when the memory grows; existing views become empty. */
  readonly buffer: ArrayBuffer
  /** Adds pages of 64 KiB; throws a RangeError if there is not enough memory. */
  grow(pages: number): number
}

// Declared here because this runs in browsers and in Node, and only their own type libraries declare them.
declare function atob(base64: string): string
declare namespace WebAssembly {
  const Memory: new (descriptor: { initial: number }) => ScanMemory
  const Module: new (bytes: Uint8Array) => object
  const Instance: new (module: object, imports: { env: { memory: ScanMemory } }) => { exports: ScanKernels }
}

let compiled: object | undefined

/** Instantiates the kernels with a new, empty memory. */
export function createScanKernels(): { kernels: ScanKernels; memory: ScanMemory } {
  // Browsers compile less than 4 KB synchronously on the main thread.
  compiled ??= new WebAssembly.Module(Uint8Array.from(atob(SCAN_WASM), (char) => char.charCodeAt(0)))
  const memory = new WebAssembly.Memory({ initial: 0 })
  return { kernels: new WebAssembly.Instance(compiled, { env: { memory } }).exports, memory }
}
