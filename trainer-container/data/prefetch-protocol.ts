import type { FeatureManifest } from "../../core/features/shapes";
import type { SamplerOptions } from "./sampler";

/** First message to the worker. The shards' memory moves to it, so it exists once. */
export interface PrefetchStart {
  readonly manifest: Pick<FeatureManifest, "transform" | "label">;
  readonly sampler: SamplerOptions;
  readonly shards: readonly Uint8Array<ArrayBuffer>[];
}

/** Requests one micro-batch. The buffers move to the worker and come back filled. */
export interface PrefetchRequest extends PrefetchBuffers {
  readonly step: number;
  readonly index: number;
}

export interface PrefetchBuffers {
  readonly inputs: Float32Array<ArrayBuffer>;
  readonly labels: Int32Array<ArrayBuffer> | Float32Array<ArrayBuffer>;
}

export type PrefetchReply = PrefetchRequest;

export function transferOf({ inputs, labels }: PrefetchBuffers): ArrayBuffer[] {
  return [inputs.buffer, labels.buffer];
}
