/** The layers that TensorFlow.js lacks. The trainer offers them to users, and the predictor rebuilds them. */
import * as tf from "@tensorflow/tfjs-core";
import { completeConvolutions } from "./convolutions";
import { Gelu, type GeluOptions } from "./gelu";
import { MultiHeadAttention, type MultiHeadAttentionOptions } from "./multi-head-attention";
import type { LayerOptions } from "./own-layer";
import { PositionalEmbedding, PositionalEncoding, type PositionalEncodingOptions } from "./positions";
import { RmsNormalization, type RmsNormalizationOptions } from "./rms-normalization";
import { SelectFeatures, type SelectFeaturesOptions } from "./select-features";
import { completeClasses } from "./serialized";
import { inferVolumes } from "./volume-normalization";

const classes = [
  MultiHeadAttention,
  PositionalEncoding,
  PositionalEmbedding,
  RmsNormalization,
  Gelu,
  SelectFeatures,
] as const;

const names: ReadonlySet<string> = new Set(classes.map(({ className }) => className));

/** Returns whether stock TensorFlow.js lacks the class. */
export const isOwnClass = (className: string): boolean => names.has(className);

/** Adds the classes to those that a topology can name, and completes TensorFlow.js's. Idempotent. */
export function registerOwnLayers(): void {
  completeClasses();
  completeConvolutions();
  inferVolumes();
  for (const each of classes) tf.serialization.registerClass(each as never);
}

/** Functions that the context's `tf.layers` has next to TensorFlow.js's. */
export const ownLayers = {
  multiHeadAttention: (options: MultiHeadAttentionOptions) => new MultiHeadAttention(options),
  positionalEncoding: (options?: PositionalEncodingOptions) => new PositionalEncoding(options),
  positionalEmbedding: (options?: LayerOptions) => new PositionalEmbedding(options),
  rmsNormalization: (options?: RmsNormalizationOptions) => new RmsNormalization(options),
  gelu: (options?: GeluOptions) => new Gelu(options),
  selectFeatures: (options: SelectFeaturesOptions) => new SelectFeatures(options),
};

export type OwnLayers = typeof ownLayers;
