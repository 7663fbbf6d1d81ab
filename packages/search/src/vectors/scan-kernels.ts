import { SCAN_WASM } from './scan-wasm.js'

/** The compiled inner loops; scripts/build-wasm/scan.ts says what they do. All addresses are of bytes in the memory. */
export interface ScanKernels {
  measure(bits: number, rows: number, bytesPerRow: number, query: number, distances: number, histogram: number): void
  collect(distances: number, rows: number, limit: number, firstRow: number, found: number): number
  score(addresses: number, rows: number, dimensions: number, query: number, queryScale: number, scores: number): void
}

/** Memory that WebAssembly works in. */
export interface ScanMemory {
  /** Another object after each growth; views of the one before are empty then. */
  readonly buffer: ArrayBuffer
  /** Adds pages of 64 KiB; throws a RangeError when there is no more memory. */
  grow(pages: number): number
}

// Declared here, as TypeScript knows these only with the types of a browser or of Node, and this runs in both.
declare function atob(base64: string): string
declare namespace WebAssembly {
  const Memory: new (descriptor: { initial: number }) => ScanMemory
  const Module: new (bytes: Uint8Array) => object
  const Instance: new (module: object, imports: { env: { memory: ScanMemory } }) => { exports: ScanKernels }
}

let compiled: object | undefined

/** Kernels with a memory of their own, empty at first. */
export function createScanKernels(): { kernels: ScanKernels; memory: ScanMemory } {
  // Less than 4 KB, so that browsers let it be compiled at once on the main thread too.
  compiled ??= new WebAssembly.Module(Uint8Array.from(atob(SCAN_WASM), (char) => char.charCodeAt(0)))
  const memory = new WebAssembly.Memory({ initial: 0 })
  return { kernels: new WebAssembly.Instance(compiled, { env: { memory } }).exports, memory }
}
