// The part of onnxruntime-node that is used; its package refers to a file of types that it does not contain.
declare module 'onnxruntime-node' {
  interface SessionOptions {
    readonly intraOpNumThreads: number
    readonly interOpNumThreads: number
    readonly executionMode: 'sequential' | 'parallel'
    readonly graphOptimizationLevel: 'disabled' | 'basic' | 'extended' | 'all'
    readonly logSeverityLevel: 0 | 1 | 2 | 3 | 4
  }

  class Tensor {
    constructor(type: 'int32', data: Int32Array, sizes: readonly number[])
    readonly data: unknown
  }

  class InferenceSession {
    static create(file: string, options: SessionOptions): Promise<InferenceSession>
    run(inputs: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>
  }
}
