export type SafetensorsType = "F32" | "F64" | "I32" | "I64" | "U32" | "U8";

export type SafetensorsData = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint32Array | Uint8Array;

export interface SafetensorsTensor {
  readonly dtype: SafetensorsType;
  readonly shape: readonly number[];
  /** Row-major; as many elements as the shape has. */
  readonly data: SafetensorsData;
}

export interface SafetensorsFile {
  readonly tensors: Readonly<Record<string, SafetensorsTensor>>;
  readonly metadata?: Readonly<Record<string, string>>;
}

export class SafetensorsError extends Error {
  readonly code = "INVALID_SAFETENSORS";
  readonly httpStatus = 422;
  readonly retryable = false;

  constructor(message: string, cause?: unknown) {
    super(`Not a readable safetensors file: ${message}`, cause === undefined ? undefined : { cause });
    this.name = "SafetensorsError";
  }
}

interface ElementType {
  readonly bytes: number;
  readonly create: (buffer: ArrayBufferLike, offset: number, length: number) => SafetensorsData;
}

export const elementTypes: Readonly<Record<SafetensorsType, ElementType>> = {
  F32: { bytes: 4, create: (buffer, offset, length) => new Float32Array(buffer, offset, length) },
  F64: { bytes: 8, create: (buffer, offset, length) => new Float64Array(buffer, offset, length) },
  I32: { bytes: 4, create: (buffer, offset, length) => new Int32Array(buffer, offset, length) },
  I64: { bytes: 8, create: (buffer, offset, length) => new BigInt64Array(buffer, offset, length) },
  U32: { bytes: 4, create: (buffer, offset, length) => new Uint32Array(buffer, offset, length) },
  U8: { bytes: 1, create: (buffer, offset, length) => new Uint8Array(buffer, offset, length) },
};
